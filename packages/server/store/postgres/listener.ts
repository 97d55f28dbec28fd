/**
 * Listens for notifications of commits by any process. They only wake readers: the log is authoritative and readers
 * poll it anyway, so a lost notification or a hung listener costs only time.
 */
import pg from 'pg'
import { clientOptions } from './connection.ts'

export const CHANNEL = 'assay_log'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

/** How often the server's notification queue is checked, and the share in use that triggers an alarm. */
const QUEUE_LOOK_MS = 60_000
const QUEUE_ALARM = 0.25

export type ListenerOptions = {
  readonly url: string
  /** Left out, the channel of commits. */
  readonly channel?: string
  readonly onNews: (said: string) => void
  /** Some listener of this server does not keep up: when the queue is full, commits fail. */
  readonly onQueue: (share: number) => void
}

export class CommitListener {
  readonly #options: ListenerOptions
  #client: pg.Client | null = null
  #timer: NodeJS.Timeout | null = null
  #pauseMs = FIRST_PAUSE_MS
  #isClosed = false

  constructor(options: ListenerOptions) {
    this.#options = options
    void this.#start()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#client?.end().catch(() => undefined)
  }

  async #start(): Promise<void> {
    const client = new pg.Client(clientOptions(this.#options.url))
    this.#client = client
    client.on('error', () => undefined)
    client.on('notification', ({ payload }) => this.#options.onNews(payload ?? ''))
    client.once('end', () => this.#again(client))
    try {
      await client.connect()
      await client.query(`LISTEN ${this.#options.channel ?? CHANNEL}`)
      this.#pauseMs = FIRST_PAUSE_MS
      // Notifications may have been missed while no connection was listening.
      this.#options.onNews('')
      this.#lookAtQueue(client)
    } catch {
      await client.end().catch(() => undefined)
      this.#again(client)
    }
  }

  /** Reconnects after a growing pause; once for each connection that ended. */
  #again(client: pg.Client): void {
    if (this.#isClosed || this.#client !== client) return
    this.#client = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#start(), this.#pauseMs)
    this.#timer.unref()
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
  }

  #lookAtQueue(client: pg.Client): void {
    this.#timer = setTimeout(() => {
      client
        .query<{ share: number }>('SELECT pg_notification_queue_usage() AS share')
        .then(({ rows: [row] }) => {
          if (row !== undefined && row.share >= QUEUE_ALARM) this.#options.onQueue(row.share)
          if (this.#client === client && !this.#isClosed) this.#lookAtQueue(client)
        })
        .catch(() => undefined)
    }, QUEUE_LOOK_MS)
    this.#timer.unref()
  }
}
