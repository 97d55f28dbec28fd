/**
 * Which of the given blocks are final: by the chain's `finalized` tag, or by depth below the tip where the configuration
 * says so or the endpoints have no such tag. Only a block that the consumer has committed and that is on our lineage is
 * said to be final, and never a lower one after a higher one.
 *
 * A block that was given without a proof of its logs is proven first: by the header that settled it, by its receipts, or by
 * a second endpoint that says the same. While nobody can, finality waits below it.
 */
import type { Clock } from '../../ops/clock.ts'
import { fallbackDepthOf } from '../../ops/chainTable.ts'
import type { ChainConfig, Hex } from '../../ops/config.ts'
import { Condition } from '../condition.ts'
import { fetchVerified } from '../proof/block.ts'
import { digestOf } from '../proof/blockDigest.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { FeedLog } from '../feedLog.ts'
import type { EndpointSet } from '../endpoints/endpointSet.ts'
import type { BlockRef, VerifiedBlock } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { fetchHeaderByNumber, fetchHeaderByTag, type Head } from '../proof/header.ts'
import type { Lineage, Unproven } from './lineage.ts'
import { Settlement } from '../proof/settlement.ts'

export type Final = { readonly number: number; readonly hash: Hex }

type FinalityOptions = {
  readonly chain: Pick<ChainConfig, 'chainId' | 'blockTimeMs' | 'finality'>
  readonly endpoints: EndpointSet
  readonly lineage: Lineage
  readonly finalized: Final | null
  readonly processed: () => BlockRef | null
  /** The highest block known of the chain. */
  readonly head: () => BlockRef | null
  readonly clock: Clock
  readonly log: FeedLog
  readonly onChange: () => void
}

/** Between two questions while blocks arrive. */
const PAUSE_MS = { least: 100, most: 4000 } as const
/** Finality moves with epochs, not with blocks: so many questions at a start, then one in so long. */
const QUESTIONS = { atOnce: 16, everyMs: 30_000 } as const
/** How long a wait may last before the clock is looked at again. */
const GLANCE_MS = 250
/** Questions without a tag in the answer before depth decides: a node may lose its tag for a moment. */
const TAG_MISSING = 3
/** A tag may be a little ahead of the head we know; further, and it is made up. */
const AHEAD = { leastMs: 2000, blocks: 2 } as const
/** Where no proof was to be had it is asked for again after this long, and no more than so many at once. */
const PROVE_AGAIN_MS = 15_000
const MOST_PROOFS = 64

export class Finality {
  readonly #options: FinalityOptions
  readonly #changed = new Condition()
  readonly #settlement: Settlement
  #final: Final | null
  #isGiven = true
  /** The highest number the chain called final, ours or not. */
  #highest = -1
  #advancedAtMs: number
  #asked: string | null = null
  #askedAtMs = Number.NEGATIVE_INFINITY
  #questions: number = QUESTIONS.atOnce
  #countedAtMs: number
  #tagMissing = 0
  #proveAtMs = Number.NEGATIVE_INFINITY

  constructor(options: FinalityOptions) {
    this.#options = options
    this.#final = options.finalized
    this.#settlement = new Settlement(options.endpoints)
    this.#advancedAtMs = options.clock.monotonicMs()
    this.#countedAtMs = this.#advancedAtMs
  }

  /** The configuration asks for a tag that the endpoints do not have. */
  get isByFallback(): boolean {
    return this.#options.chain.finality.kind === 'tag' && this.#tagMissing >= TAG_MISSING
  }

  get final(): Final | null {
    return this.#final
  }

  /** Monotonic time at which finality last moved, or at which there was something to look for. */
  get advancedAtMs(): number {
    return this.#advancedAtMs
  }

  /** A block was committed: something may have become final. */
  nudge(): void {
    this.#changed.notify()
  }

  take(): Final | null {
    if (this.#isGiven) return null
    this.#isGiven = true
    return this.#final
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { blockTimeMs } = this.#options.chain
    const pauseMs = Math.min(Math.max(blockTimeMs / 2, PAUSE_MS.least), PAUSE_MS.most)
    const rest = new Condition()
    while (!signal.aborted) {
      const processed = this.#options.processed()
      const nowMs = this.#options.clock.monotonicMs()
      if (processed === null) this.#advancedAtMs = nowMs
      // Finality may move without a new block.
      const isDue = processed?.hash !== this.#asked || nowMs - this.#askedAtMs >= QUESTIONS.everyMs
      if (processed !== null && isDue && this.#mayAsk()) {
        this.#asked = processed.hash
        this.#askedAtMs = nowMs
        await this.#look(processed, signal)
        await rest.wait(signal, pauseMs)
      } else await this.#changed.wait(signal, GLANCE_MS)
    }
  }

  /** Takes from what may be asked; depth is counted and costs no question. */
  #mayAsk(): boolean {
    if (this.#options.chain.finality.kind === 'depth') return true
    const nowMs = this.#options.clock.monotonicMs()
    const earned = (nowMs - this.#countedAtMs) / QUESTIONS.everyMs
    this.#questions = Math.min(QUESTIONS.atOnce, this.#questions + earned)
    this.#countedAtMs = nowMs
    if (this.#questions < 1) return false
    this.#questions -= 1
    return true
  }

  async #look(processed: BlockRef, signal: AbortSignal): Promise<void> {
    const { chain } = this.#options
    try {
      const { finality } = chain
      if (finality.kind === 'depth') await this.#prove(processed.number - finality.depth, signal)
      else if (await this.#lookByTag(processed, signal)) this.#tagged(true)
      else await this.#lookByFallback(processed, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!isFeedError(error)) throw error
      // Some chains answer with an error while no block is final: a fact about the chain, not a fault.
      const fields = { chain_id: chain.chainId, code: error.code, reason: error.message }
      this.#options.log('debug', 'finality is not known', fields)
    }
  }

  /** False where no endpoint has the tag, or only one that cannot be true. */
  async #lookByTag(processed: BlockRef, signal: AbortSignal): Promise<boolean> {
    const { endpoints, lineage } = this.#options
    const tagged = await this.#fetchTagged(signal)
    if (tagged === null) return false
    if (tagged.number > this.#highest) {
      this.#highest = tagged.number
      this.#advancedAtMs = this.#options.clock.monotonicMs()
    }
    const number = Math.min(tagged.number, processed.number)
    if (number <= (this.#final?.number ?? -1) || lineage.at(number) === null) return true
    // Below the finalized block, what is canonical is final.
    const ask = { method: 'eth_getBlockByNumber', signal }
    const { hash } =
      number === tagged.number
        ? tagged
        : await endpoints.attempt((each, until) => fetchHeaderByNumber(each, number, until), undefined, ask)
    if (lineage.at(number)?.hash === hash) await this.#prove(number, signal)
    return true
  }

  /** Null where the tag is missing, refused, or further ahead of the head than anyone can know. */
  async #fetchTagged(signal: AbortSignal): Promise<Head | null> {
    const { endpoints, head, chain } = this.#options
    const ask = { method: 'eth_getBlockByNumber', signal }
    const aheadBlocks = Math.max(AHEAD.blocks, AHEAD.leastMs / chain.blockTimeMs)
    try {
      const fetch = async (endpoint: Endpoint, until: AbortSignal): Promise<Head | null> => {
        const tagged = await fetchHeaderByTag(endpoint, 'finalized', until)
        const last = head()?.number ?? Number.POSITIVE_INFINITY
        if (tagged === null || tagged.number <= last + aheadBlocks) return tagged
        const sentence = `its finalized block ${tagged.number} is ahead of the head ${last}`
        throw new FeedError('RPC_ERROR', endpoint.name, sentence)
      }
      return await endpoints.attempt(fetch, undefined, ask)
    } catch (error) {
      if (!isFeedError(error, 'RPC_ERROR', 'METHOD_MISSING')) throw error
      this.#options.log('debug', 'the finalized tag is not available', { reason: error.message })
      return null
    }
  }

  async #lookByFallback(processed: BlockRef, signal: AbortSignal): Promise<void> {
    this.#tagged(false)
    const { chainId } = this.#options.chain
    if (this.isByFallback) await this.#prove(processed.number - fallbackDepthOf(chainId), signal)
  }

  #tagged(isThere: boolean): void {
    const [wasByFallback, { log, chain, onChange }] = [this.isByFallback, this.#options]
    this.#tagMissing = isThere ? 0 : this.#tagMissing + 1
    if (this.isByFallback === wasByFallback) return
    const fields = { chain_id: chain.chainId, depth: fallbackDepthOf(chain.chainId) }
    if (isThere) log('info', 'the finalized tag is available again', { chain_id: chain.chainId })
    else log('warn', 'no endpoint has the finalized tag; blocks are final by depth', fields)
    onChange()
  }

  /** Settles up to this block, or to where proofs end. */
  async #prove(number: number, signal: AbortSignal): Promise<void> {
    const { lineage, clock } = this.#options
    const proven = new Map<Hex, VerifiedBlock>()
    let isLater = false
    const isOpen = (): boolean => (lineage.unproven?.number ?? Number.POSITIVE_INFINITY) <= number
    if (isOpen() && clock.monotonicMs() >= this.#proveAtMs)
      try {
        for (let proofs = 0; isOpen() && proofs < MOST_PROOFS; proofs++) {
          const given = lineage.unproven as Unproven
          if (!proven.has(given.hash)) {
            const blocks = await this.#fetchProven(given, signal)
            isLater = blocks === null
            for (const block of blocks ?? []) proven.set(block.hash, block)
          }
          const block = proven.get(given.hash)
          if (block === undefined) break
          if (digestOf(block) !== given.digest) {
            this.#refuse(given)
            break
          }
          lineage.prove(given.hash)
        }
      } finally {
        if (isOpen() && !isLater) this.#proveAtMs = clock.monotonicMs() + PROVE_AGAIN_MS
      }
    this.#settle(lineage.at(Math.min(number, (lineage.unproven?.number ?? number + 1) - 1)))
  }

  /** The block and others proven with it. Empty when no proof is available, null when a later block will settle it. */
  async #fetchProven(given: Unproven, signal: AbortSignal): Promise<readonly VerifiedBlock[] | null> {
    const { endpoints, lineage } = this.#options
    const settled = await this.#settlement.prove(given, number => lineage.at(number)?.hash ?? null, signal)
    if (settled === null || settled.length > 0) return settled
    const block = await fetchVerified(endpoints, given.hash, signal)
    return block.proof === 'none' ? [] : [block]
  }

  /** It is final and is not what was given: nothing above it is called final by us. */
  #refuse({ number, hash }: Unproven): void {
    const fields = { chain_id: this.#options.chain.chainId, block_number: number, block_hash: hash }
    this.#options.log('error', 'a block used without a proof turned out to be a different one', fields)
  }

  /** The lineage may have moved while we asked; the committed block must still be on it. */
  #settle(block: BlockRef | null): void {
    const { lineage, processed, clock } = this.#options
    const committed = processed()
    if (block === null || committed === null || block.number <= (this.#final?.number ?? -1)) return
    if (block.number > committed.number || lineage.at(committed.number)?.hash !== committed.hash) return
    this.#final = { number: block.number, hash: block.hash }
    this.#isGiven = false
    if (this.#options.chain.finality.kind === 'depth' || this.isByFallback)
      this.#advancedAtMs = clock.monotonicMs()
    lineage.finalize(block.number)
    this.#options.onChange()
  }
}
