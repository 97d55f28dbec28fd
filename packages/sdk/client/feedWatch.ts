/**
 * Whether a chain's feed still carries prices, as a client knows it: the last status received, and how long ago.
 *
 * Health comes every 15 seconds, so silence means loss, wherever it was lost. Only a live record breaks a silence:
 * a replayed one reports a past status, not that the feed is alive.
 */
import { type Feed, type FeedStatus, SILENT_AFTER_MS } from '../wire/health.ts'
import { type FeedGone, toGone } from '../wire/presented.ts'

export class FeedWatch {
  /** Null before the service has said anything about it. */
  #status: FeedStatus | null = null
  /** By the client's clock; null when the feed is known to be silent. */
  #heardAtMs: number | null = null

  /** A snapshot or a connection of now; an older service says nothing beside it. */
  opened(feed: Feed | undefined, nowMs: number): void {
    this.#heardAtMs = feed?.reasons.includes('WORKER_SILENT') === true ? null : nowMs
    if (feed !== undefined) this.#status = feed.status
  }

  heard(status: FeedStatus, nowMs: number, isReplayed: boolean): void {
    this.#status = status
    if (!isReplayed) this.#heardAtMs = nowMs
  }

  gone(nowMs: number): FeedGone | null {
    if (this.#heardAtMs === null || nowMs - this.#heardAtMs > SILENT_AFTER_MS) return 'UNAVAILABLE'
    return this.#status === null ? null : toGone(this.#status)
  }
}
