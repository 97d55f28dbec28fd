/**
 * Follows the log for all webhooks and stores the deliveries to make, together with the position reached. Each webhook
 * has its own position, so one that waits, or repeats past records, delays no other. Positions without a delivery are
 * stored only from time to time: matching a record twice gives the same result.
 */
import type { Envelope } from '@assay/sdk/wire'
import type { Log } from '../ops/log.ts'
import { epochOf, epochStart } from '../store/epoch.ts'
import type { LogRecord, LogStore, Sequence } from '../store/port.ts'
import type { WebhookMove, WebhookRow, WebhookStore } from '../store/webhooks.ts'
import type { Hub } from '../stream/hub.ts'
import { type Judge, judgeOf, type Memory } from './condition.ts'
import { type Found, foundIn } from './message.ts'

/** Records read for webhooks behind the hub's ring, one page between two checks of the ring. */
const PAGE = 1000
/**
 * With this many pending deliveries a webhook is not matched further until some are made: the rest waits on the log.
 */
export const MOST_PENDING = 1000
/** Deliveries written in one transaction: a chain's commit may have to wait for it. */
const MOST_FOUND = 500
/** Records after which positions without a delivery are stored; after a crash these records are matched again. */
const CHECKPOINT_RECORDS = 20_000

type Follower = {
  readonly row: WebhookRow
  readonly judge: Judge
  position: Sequence
  memory: Memory | null
  pending: number
  /** Deliveries not written yet. */
  found: Found[]
  written: Sequence
}

export type MatcherOptions = {
  readonly store: LogStore & Pick<WebhookStore, 'advanceWebhooks' | 'setWebhookState'>
  readonly hub: Pick<Hub, 'after' | 'reaches'>
  readonly generation: number
  readonly log: Log
  /** There are deliveries for these webhooks. */
  readonly onFound: (webhookIds: readonly string[]) => void
  /** Users have changed rows, which must be read again. */
  readonly onStale: () => void
}

export class Matcher {
  readonly #options: MatcherOptions
  #followers = new Map<string, Follower>()
  /** Webhooks that a record may concern, by chain, and by chain and token. */
  #byRoute = new Map<string, Follower[]>()

  constructor(options: MatcherOptions) {
    this.#options = options
  }

  /**
   * Loads the active webhooks. An unchanged one continues from its position in memory, which may be ahead of the stored
   * one.
   */
  load(rows: readonly WebhookRow[]): void {
    const followers = new Map<string, Follower>()
    for (const row of rows) {
      const known = this.#followers.get(row.webhookId)
      followers.set(row.webhookId, known?.row.revision === row.revision ? { ...known, row } : followerOf(row))
    }
    this.#followers = followers
    this.#byRoute = new Map()
    for (const follower of followers.values()) {
      const route = routeOf(follower.judge.chainId, follower.judge.tokenId)
      this.#byRoute.set(route, [...(this.#byRoute.get(route) ?? []), follower])
    }
  }

  /** A delivery is made, so there is room for another. True when that lets the webhook continue. */
  settled(webhookId: string): boolean {
    const follower = this.#followers.get(webhookId)
    if (follower === undefined) return false
    follower.pending -= 1
    return follower.pending === MOST_PENDING - 1
  }

  /** Matches new records, as far as there is room. True when there may be more at once. */
  async step(): Promise<boolean> {
    // Write what failed to be written last time first, so that nothing accumulates.
    await this.#save(0)
    const { store, hub } = this.#options
    const waiting = [...this.#followers.values()].filter(({ pending }) => pending < MOST_PENDING)
    const near = waiting.filter(({ position }) => hub.reaches(position))
    let isMore = false
    if (near.length > 0) {
      const page = hub.after(least(near)) ?? []
      isMore = page.length > 0
      this.#take(near, page)
      await this.#save(CHECKPOINT_RECORDS)
    }
    const far = waiting.filter(({ position }) => !hub.reaches(position))
    if (far.length > 0) {
      const after = least(far)
      await this.#parkPruned(far, after)
      const page = await store.readLog(after, PAGE, null)
      isMore ||= page.length > 0
      this.#take(far, page)
      await this.#save(CHECKPOINT_RECORDS)
    }
    return isMore
  }

  /** Stores every position. */
  async flush(): Promise<void> {
    await this.#save(1)
  }

  /** Ends early when it has found enough for one transaction. */
  #take(followers: readonly Follower[], page: readonly LogRecord[]): void {
    const eligible = new Set(followers)
    let found = 0
    let last: LogRecord | undefined
    for (const record of page) {
      last = record
      let envelope: Envelope | null = null
      for (const follower of this.#concerned(record)) {
        if (!eligible.has(follower) || follower.position >= record.sequence) continue
        if (follower.pending >= MOST_PENDING || !follower.judge.types.has(record.type)) continue
        restart(follower, record)
        envelope ??= JSON.parse(record.envelope) as Envelope
        const { memory, said } = follower.judge.judge(follower.memory, envelope)
        follower.memory = memory
        if (said === null) continue
        follower.found.push(foundIn(follower.row.webhookId, said, record))
        follower.pending += 1
        found += 1
        // Out of room: it stops at this record.
        if (follower.pending >= MOST_PENDING) follower.position = record.sequence
      }
      if (found >= MOST_FOUND) break
    }
    if (last === undefined) return
    for (const follower of followers) {
      if (follower.pending >= MOST_PENDING || follower.position >= last.sequence) continue
      restart(follower, last)
      follower.position = last.sequence
    }
  }

  *#concerned({ chainId, tokenIds }: LogRecord): Generator<Follower> {
    yield* this.#byRoute.get(routeOf(chainId, null)) ?? []
    for (const tokenId of tokenIds) yield* this.#byRoute.get(routeOf(chainId, tokenId)) ?? []
  }

  /**
   * No record is skipped silently: a webhook whose next records were pruned is parked until a user chooses where to
   * continue.
   */
  async #parkPruned(far: readonly Follower[], after: Sequence): Promise<void> {
    const { store, log, onStale } = this.#options
    const { oldest, epoch } = await store.readBounds()
    if (epochOf(after) !== epoch || after + 1 >= oldest) return
    for (const { row, position } of far) {
      if (epochOf(position) !== epoch || position + 1 >= oldest) continue
      const reason = `records after ${position} are no longer retained, the oldest is ${oldest}: replay from there, or increase the retention`
      log.warn('a webhook fell behind the retention of the log', { webhook_id: row.webhookId, position })
      await store.setWebhookState(row.webhookId, 'PARKED', reason)
      this.#followers.delete(row.webhookId)
    }
    onStale()
  }

  /**
   * Stores webhooks that found a delivery, and those that moved at least `records` without one; 0 stores the first kind
   * only.
   */
  async #save(records: number): Promise<void> {
    const due = [...this.#followers.values()].filter(
      ({ found, position, written }) => found.length > 0 || (records > 0 && position - written >= records),
    )
    if (due.length === 0) return
    const moves = due.map(moveOf)
    const stale = await this.#options.store.advanceWebhooks(this.#options.generation, moves)
    for (const follower of due) {
      follower.written = follower.position
      follower.found = []
    }
    const found = moves.filter(({ deliveries }) => deliveries.length > 0).map(({ webhookId }) => webhookId)
    if (found.length > 0) this.#options.onFound(found)
    for (const webhookId of stale) this.#followers.delete(webhookId)
    if (stale.length > 0) this.#options.onStale()
  }
}

const followerOf = (row: WebhookRow): Follower => ({
  row,
  judge: judgeOf(JSON.parse(row.condition)),
  position: row.position,
  memory: row.memory === null ? null : (JSON.parse(row.memory) as Memory),
  pending: row.pending,
  found: [],
  written: row.position,
})

/**
 * Messages about records of the lost end of the log may have been sent: their receivers are informed that the log
 * restarted.
 */
function restart(follower: Follower, { sequence, timeMs }: Pick<LogRecord, 'sequence' | 'timeMs'>): void {
  const epoch = epochOf(sequence)
  if (epochOf(follower.position) === epoch) return
  const at = epochStart(epoch)
  const data = { epoch, last_sequence: follower.position }
  follower.found.push(
    foundIn(
      follower.row.webhookId,
      { type: 'log.restarted', data },
      { sequence: at, timeMs, envelope: null },
    ),
  )
  follower.pending += 1
  follower.position = at
}

const moveOf = ({ row, position, memory, found }: Follower): WebhookMove => ({
  webhookId: row.webhookId,
  revision: row.revision,
  position,
  memory: memory === null ? null : JSON.stringify(memory),
  deliveries: found,
})

const least = (followers: readonly Follower[]): Sequence =>
  followers.reduce((lowest, { position }) => Math.min(lowest, position), Number.MAX_SAFE_INTEGER)

const routeOf = (chainId: number, tokenId: string | null): string => `${chainId} ${tokenId ?? ''}`
