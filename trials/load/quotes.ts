/**
 * Readers of token quotes over persistent connections: as fast as answers arrive, or at a pace. They write requests
 * and read answers themselves, because a client that parses headers would cost more than the service.
 */
import { connect, type Socket } from 'node:net'
import { quantile } from '../../bench/harness.ts'
import { answerCalls } from './part.ts'

export type Asked = {
  readonly urls: readonly string[]
  readonly keys: readonly string[]
  readonly paths: readonly string[]
  readonly connections: number
  readonly seconds: number
  /** Null: each connection sends the next request as soon as it has its answer. */
  readonly perSecond: number | null
}
export type Answered = {
  readonly quotes: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
  readonly byStatus: Readonly<Record<string, number>>
}

answerCalls({ ask })

async function ask(asked: Asked): Promise<Answered> {
  const { urls, keys, connections, perSecond } = asked
  const readers = await Promise.all(
    Array.from({ length: connections }, (_, at) =>
      Reader.open(urls[at % urls.length] as string, keys[at % keys.length] as string),
    ),
  )
  const startMs = performance.now()
  const endMs = startMs + asked.seconds * 1000
  const gapMs = perSecond === null ? 0 : (1000 * connections) / perSecond
  await Promise.all(
    readers.map((reader, at) => reader.run(asked.paths, endMs, gapMs, (at * gapMs) / connections)),
  )
  const seconds = (performance.now() - startMs) / 1000
  const times = readers.flatMap(reader => reader.timesMs)
  const byStatus: Record<string, number> = {}
  for (const { statuses, close } of readers) {
    for (const status of statuses) byStatus[status] = (byStatus[status] ?? 0) + 1
    close()
  }
  return {
    quotes: times.length,
    perSecond: times.length / seconds,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    longestMs: times.reduce((longest, time) => Math.max(longest, time), 0),
    byStatus,
  }
}

class Reader {
  readonly timesMs: number[] = []
  readonly statuses: string[] = []
  readonly #socket: Socket
  readonly #key: string
  #text = ''
  #onAnswer: (status: string) => void = () => undefined

  private constructor(socket: Socket, key: string) {
    this.#socket = socket
    this.#key = key
    socket.setEncoding('latin1')
    socket.on('data', part => this.#take(String(part)))
    socket.on('error', () => undefined)
    socket.on('close', () => this.#onAnswer('cut'))
  }

  static open(url: string, key: string): Promise<Reader> {
    const { port, hostname } = new URL(url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Reader(socket, key)))
    })
  }

  /** Keeps the pace whatever happened to the previous answer, as far as one connection can. */
  async run(paths: readonly string[], endMs: number, gapMs: number, afterMs: number): Promise<void> {
    for (
      let turn = 0, dueMs = performance.now() + afterMs;
      performance.now() < endMs;
      turn++, dueMs += gapMs
    ) {
      const waitMs = dueMs - performance.now()
      if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs))
      const path = paths[(turn * 7 + this.#socket.localPort!) % paths.length] as string
      const startMs = performance.now()
      const status = await this.#once(path)
      this.timesMs.push(performance.now() - startMs)
      this.statuses.push(status)
      if (status === 'cut') return
    }
  }

  readonly close = (): void => {
    this.#socket.destroy()
  }

  #once(path: string): Promise<string> {
    return new Promise(resolve => {
      this.#onAnswer = resolve
      this.#socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${this.#key}\r\n\r\n`,
      )
    })
  }

  #take(part: string): void {
    this.#text += part
    const end = this.#text.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, end + 2))?.[1])
    if (Number.isNaN(length)) this.#onAnswer('no length')
    else if (this.#text.length >= end + 4 + length) {
      const status = this.#text.slice(9, 12)
      this.#text = ''
      this.#onAnswer(status)
    }
  }
}
