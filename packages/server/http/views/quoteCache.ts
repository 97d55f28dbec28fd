/**
 * Quotes of tokens ready to send: the last record of each, serialised once, with its ETag. The tail of the log
 * invalidates them; a quote that was read while its token changed is used once and not cached.
 */
import { hash } from 'node:crypto'
import { withChange } from '@assay/engine'
import { type CompactState, overlayOf, type Reading } from '@assay/sdk/wire'
import { isOfToken } from '../../store/envelope.ts'
import type { Sequence, Store } from '../../store/port.ts'
import type { Hub } from '../../stream/hub.ts'
import type { Feeds } from './feeds.ts'
import { present } from './stateAsShown.ts'
import { changeOf } from './priceChange.ts'

export type ReadyQuote = {
  /** For one response a string is cheaper than a buffer; for repeated ones the buffer is. */
  body: string | Buffer
  /** Length in UTF-8. */
  readonly bytes: number
  readonly etag: string
}

/** The answer for a reader, and the evaluation time of its record. */
export type PresentedQuote = ReadyQuote & {
  readonly evaluatedAtMs: number
  /** The compact state of the same record, with its ids. */
  readonly head: () => object
}

/** A token as in a path: chain id and address in lower case. */
export type QuoteKey = `${number}/${string}`

type Entry = {
  readonly ready: ReadyQuote
  /** Identifies the content of `ready`: the record, and the change of its price from earlier ones. */
  readonly version: string
  readonly chainId: number
  readonly head: CompactState
  /** How often the feed had recovered when it was read: after another recovery the store has a newer record. */
  readonly returns: number
  /** Overlaid answers by reason, made on first use. */
  readonly overlaid: Map<string, ReadyQuote>
}

/** Bytes of cached bodies: the quotes of a few thousand tokens. */
const MAX_BYTES = 64 * 1024 * 1024

export class QuoteCache {
  readonly #store: Store
  readonly #hub: Hub
  readonly #feeds: Pick<Feeds, 'gone' | 'returns'>
  readonly #entries = new Map<string, Entry>()
  /** Reads in progress, and whether the token has changed meanwhile. */
  readonly #reading = new Map<string, { readonly entry: Promise<Entry | null>; isStale: boolean }>()
  readonly #maxBytes: number
  #bytes = 0
  #seen: Sequence
  readonly #unlisten: () => void
  /** Called when a token is requested. */
  onAsked: ((token: QuoteKey, atMs: number) => void) | null = null

  constructor(store: Store, hub: Hub, feeds: Pick<Feeds, 'gone' | 'returns'>, maxBytes = MAX_BYTES) {
    this.#store = store
    this.#maxBytes = maxBytes
    this.#hub = hub
    this.#feeds = feeds
    this.#seen = hub.head
    this.#unlisten = hub.listen({ wake: () => this.#follow() })
  }

  /** The quote as presented at `nowMs`; null for a token without one. */
  async read(chainId: number, token: string, nowMs: number): Promise<PresentedQuote | null> {
    const key = keyOf(chainId, token)
    this.onAsked?.(key, nowMs)
    let entry = this.#kept(key) ?? (await this.#fetch(key, chainId, token))
    // The feed recovered during the read, so this may be an older price.
    if (entry !== null && !this.#isSinceReturn(entry)) entry = await this.#load(chainId, token)
    if (entry === null) return null
    const reading = { nowMs, feedGone: this.#feeds.gone(chainId, nowMs) }
    return {
      ...presented(entry, reading),
      evaluatedAtMs: entry.head.evaluated_at_ms,
      head: () => ({ chain_id: chainId, token, source: 'RETRIEVED', ...present(entry.head, reading) }),
    }
  }

  /** A quote in memory that can be sent at once; null says nothing about the token. */
  recall(key: QuoteKey, nowMs: number): ReadyQuote | null {
    const entry = this.#kept(key)
    if (entry === null) return null
    this.onAsked?.(key, nowMs)
    const ready = this.#presented(entry, nowMs)
    if (typeof ready.body === 'string') ready.body = Buffer.from(ready.body)
    return ready
  }

  close(): void {
    this.#unlisten()
  }

  #kept(key: string): Entry | null {
    const entry = this.#entries.get(key)
    return entry !== undefined && this.#isSinceReturn(entry) ? entry : null
  }

  #isSinceReturn({ returns, chainId }: Entry): boolean {
    return returns === this.#feeds.returns(chainId)
  }

  #presented(entry: Entry, nowMs: number): ReadyQuote {
    return presented(entry, { nowMs, feedGone: this.#feeds.gone(entry.chainId, nowMs) })
  }

  /** Concurrent requests share one read. */
  async #fetch(key: string, chainId: number, token: string): Promise<Entry | null> {
    const running = this.#reading.get(key)
    if (running !== undefined && !running.isStale) return running.entry
    const reading = { entry: this.#load(chainId, token), isStale: false }
    this.#reading.set(key, reading)
    try {
      const entry = await reading.entry
      if (entry !== null && !reading.isStale) this.#keep(key, entry)
      return entry
    } finally {
      if (this.#reading.get(key) === reading) this.#reading.delete(key)
    }
  }

  async #load(chainId: number, token: string): Promise<Entry | null> {
    const returns = this.#feeds.returns(chainId)
    const stored = await this.#store.readQuote(chainId, token)
    if (stored === null) return null
    const head = JSON.parse(stored.price) as CompactState
    // A request reactivates it: it is looked up again as if it were new.
    if (head.state === 'UNPRICED' && head.reason === 'DORMANT') return null
    const change = head.state === 'PRICED' ? await changeOf(this.#store, chainId, token, head) : null
    const version = `${stored.sequence} ${JSON.stringify(change)}`
    const text = withChange(stored.quote, change)
    return {
      // The text of a change is ASCII: each character is one byte.
      ready: readyOf(text, version, stored.bytes + text.length - stored.quote.length),
      version,
      chainId,
      head,
      returns,
      overlaid: new Map(),
    }
  }

  #keep(key: string, entry: Entry): void {
    this.#drop(key)
    this.#entries.set(key, entry)
    this.#bytes += entry.ready.bytes
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#bytes -= entry.ready.bytes
    this.#entries.delete(key)
  }

  #follow(): void {
    while (this.#seen < this.#hub.head) {
      const records = this.#hub.after(this.#seen)
      if (records === null) return this.#forgetAll()
      for (const record of records) {
        this.#seen = record.sequence
        if (!isOfToken(record)) continue
        for (const id of record.tokenIds) this.#changed(keyOf(record.chainId, `0x${id.slice(26)}`))
      }
    }
  }

  #changed(key: string): void {
    this.#drop(key)
    const reading = this.#reading.get(key)
    if (reading !== undefined) reading.isStale = true
  }

  /** The tail no longer contains everything that happened. */
  #forgetAll(): void {
    this.#entries.clear()
    this.#bytes = 0
    for (const reading of this.#reading.values()) reading.isStale = true
    this.#seen = this.#hub.head
  }
}

const keyOf = (chainId: number, token: string): QuoteKey => `${chainId}/${token}`

function presented({ ready, head, version, overlaid }: Entry, reading: Reading): ReadyQuote {
  const reason = overlayOf(head, reading)
  if (reason === null) return ready
  const known = overlaid.get(reason)
  if (known !== undefined) return known
  const said = JSON.parse(ready.body.toString()) as object
  const made = readyOf(JSON.stringify(present(said, reading)), `${version} ${reason}`)
  overlaid.set(reason, made)
  return made
}

/** A version of a token has exactly one text, so the ETag uses the version instead of the text. */
const readyOf = (text: string, version: string, bytes = Buffer.byteLength(text)): ReadyQuote => ({
  body: text,
  bytes,
  etag: `"${hash('sha256', version, 'base64url').slice(0, 22)}"`,
})

/** Whether If-None-Match names the answer; a weak form of our ETag matches too. */
export const isNamedIn = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some(each => each.trim().replace(/^W\//, '') === etag))
