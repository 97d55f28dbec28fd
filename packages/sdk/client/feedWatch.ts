/**
 * Whether a chain's feed still carries prices, as far as the client knows: the last status received, and how long
 * ago.
 *
 * Health arrives every 15 seconds, so silence means loss, wherever the loss is. Only a live record ends a silence: a
 * replayed one reports a past status and does not show that the feed is alive.
 */
import { type Feed, type FeedStatus, SILENT_AFTER_MS } from '../wire/health.ts'
import { type FeedGone, toGone } from '../wire/presented.ts'

export class FeedWatch {
  /** Null before the service has reported a status. */
  #status: FeedStatus | null = null
  /** By the client's clock; null when the feed is known to be silent. */
  #heardAtMs: number | null = null

  /** Called for a new snapshot or connection. Older services send no feed with it. */
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
