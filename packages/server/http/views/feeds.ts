/**
 * The feed of each chain as this node sees it: the last health on the log, and how long ago that was. It is kept in
 * memory and read at every answer, so that no price is sent after its feed is gone. The tail of the log updates it. A
 * node that no longer reads the log sees every chain as silent.
 */
import { type Feed, type FeedGone, type Health, SILENT_AFTER_MS, toGone } from '@assay/sdk/wire'
import type { Clock } from '../../ops/clock.ts'
import type { LogRecord, Sequence, SnapshotStore } from '../../store/port.ts'
import type { Hub } from '../../stream/hub.ts'

type Reported = {
  readonly health: Health
  /** How often the feed has recovered since this node began to watch it. */
  readonly returns: number
}

export class Feeds {
  readonly #store: Pick<SnapshotStore, 'readHealth'>
  readonly #hub: Hub
  readonly #clock: Clock
  readonly #chainIds: readonly number[]
  readonly #reported = new Map<number, Reported>()
  #seen: Sequence
  readonly #unlisten: () => void

  private constructor(
    store: Pick<SnapshotStore, 'readHealth'>,
    hub: Hub,
    clock: Clock,
    chainIds: readonly number[],
  ) {
    this.#store = store
    this.#hub = hub
    this.#clock = clock
    this.#chainIds = chainIds
    this.#seen = hub.head
    this.#unlisten = hub.listen({ wake: () => this.#follow() })
  }

  static async open(
    store: Pick<SnapshotStore, 'readHealth'>,
    hub: Hub,
    clock: Clock,
    chainIds: Iterable<number>,
  ): Promise<Feeds> {
    const feeds = new Feeds(store, hub, clock, [...chainIds])
    await feeds.#readStored()
    return feeds
  }

  /** The health record as of `nowMs`; a placeholder that says so when none was ever written. */
  health(chainId: number, nowMs: number): Health {
    const reported = this.#reported.get(chainId)?.health
    if (reported === undefined) return neverReported(chainId, nowMs)
    if (!isSilent(reported, nowMs)) return reported
    return {
      ...reported,
      status: 'UNAVAILABLE',
      reasons: [...reported.reasons.filter(each => each !== 'WORKER_SILENT'), 'WORKER_SILENT'],
    }
  }

  /** How the feed is gone; null while it supports prices. */
  gone(chainId: number, nowMs: number): FeedGone | null {
    const reported = this.#reported.get(chainId)?.health
    return reported === undefined || isSilent(reported, nowMs) ? 'UNAVAILABLE' : toGone(reported.status)
  }

  feed(chainId: number, nowMs: number): Feed {
    const { status, reasons } = this.health(chainId, nowMs)
    return { chain_id: chainId, status, reasons }
  }

  /** Increases whenever the feed recovers: anything cached for the chain before is older than the feed. */
  returns(chainId: number): number {
    return this.#reported.get(chainId)?.returns ?? 0
  }

  close(): void {
    this.#unlisten()
  }

  #follow(): void {
    while (this.#seen < this.#hub.head) {
      const records = this.#hub.after(this.#seen)
      if (records === null) {
        // The tail no longer contains everything that happened. Until the store has answered, the known health only
        // ages.
        this.#seen = this.#hub.head
        this.#readStored().catch(() => undefined)
        return
      }
      for (const record of records) {
        this.#seen = record.sequence
        if (record.type === 'FEED_HEALTH') this.#tell(record.chainId, healthIn(record))
      }
    }
  }

  #tell(chainId: number, health: Health): void {
    const nowMs = this.#clock.nowMs()
    const isReturn = this.gone(chainId, nowMs) !== null && toGone(health.status) === null
    this.#reported.set(chainId, { health, returns: this.returns(chainId) + (isReturn ? 1 : 0) })
  }

  async #readStored(): Promise<void> {
    for (const chainId of this.#chainIds) {
      const text = await this.#store.readHealth(chainId)
      const health = text === null ? null : storedHealth(text)
      if (health !== null) this.#tell(chainId, health)
    }
  }
}

/** A damaged record counts as none: only its chain is silent, until its worker reports. */
function storedHealth(text: string): Health | null {
  try {
    return JSON.parse(text) as Health
  } catch {
    return null
  }
}

const healthIn = ({ envelope }: LogRecord): Health => (JSON.parse(envelope) as { payload: Health }).payload

/** A timestamp in the future comes from a clock that was set back since: no report followed it. */
const isSilent = ({ updated_at_ms }: Health, nowMs: number): boolean =>
  Math.abs(nowMs - updated_at_ms) > SILENT_AFTER_MS

/** Its worker has never reported, which is all that is known. */
const neverReported = (chainId: number, nowMs: number): Health => ({
  chain_id: chainId,
  status: 'UNAVAILABLE',
  reasons: ['WORKER_SILENT'],
  head: null,
  processed: null,
  finalized: null,
  lag_blocks: null,
  lag_ms: null,
  endpoints: [],
  updated_at_ms: nowMs,
})
