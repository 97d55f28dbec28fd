/**
 * Decides which followed blocks are final: by the chain's `finalized` tag, or by depth below the tip when the
 * configuration says so or the endpoints have no such tag. Only a committed block of our lineage becomes final, and
 * finality never moves back.
 *
 * A block that was delivered without a proof of its logs is proven first: by the header that settled it, by its
 * receipts, or by a second endpoint that agrees. Finality waits below the block until one of these succeeds.
 */
import type { Clock } from '../../ops/clock.ts'
import { fallbackDepthOf } from '../../config/chainTable.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { ConditionVariable } from '../conditionVariable.ts'
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
  /** The highest known block of the chain. */
  readonly head: () => BlockRef | null
  readonly clock: Clock
  readonly log: FeedLog
  readonly onChange: () => void
}

/** Pause between two queries while blocks arrive. */
const PAUSE_MS = { least: 100, most: 4000 } as const
/** Finality moves with epochs, not with blocks: an initial allowance of queries, then one per period. */
const QUESTIONS = { atOnce: 16, everyMs: 30_000 } as const
/** The longest wait before the clock is checked again. */
const GLANCE_MS = 250
/** Answers without a tag before depth is used instead: a node may lose its tag for a moment. */
const TAG_MISSING = 3
/** How far the tag may be ahead of the known head; a tag further ahead is not credible. */
const AHEAD = { leastMs: 2000, blocks: 2 } as const
/** When no proof was available, retry after this long, with a limit on blocks per attempt. */
const PROVE_AGAIN_MS = 15_000
const MOST_PROOFS = 64

export class Finality {
  readonly #options: FinalityOptions
  readonly #changed = new ConditionVariable()
  readonly #settlement: Settlement
  #final: Final | null
  #isGiven = true
  /** The highest number the chain reported as final, whether or not we follow that block. */
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

  /** Monotonic time at which finality last moved, or since when there has been a block to finalize. */
  get advancedAtMs(): number {
    return this.#advancedAtMs
  }

  /** Call after a commit: a block may have become final. */
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
    const rest = new ConditionVariable()
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

  /** Takes one query from the allowance; finality by depth needs no query. */
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
      // Some chains answer with an error while no block is final: that is no fault of the endpoint.
      const fields = { chain_id: chain.chainId, code: error.code, reason: error.message }
      this.#options.log('debug', 'finality is not known', fields)
    }
  }

  /** False when no endpoint has the tag, or only one whose tag is not credible. */
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
    // Below the finalized block, canonical means final.
    const ask = { method: 'eth_getBlockByNumber', signal }
    const { hash } =
      number === tagged.number
        ? tagged
        : await endpoints.attempt((each, until) => fetchHeaderByNumber(each, number, until), undefined, ask)
    if (lineage.at(number)?.hash === hash) await this.#prove(number, signal)
    return true
  }

  /** Null when the tag is missing, refused, or too far ahead of the known head to be credible. */
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

  /** Proves blocks up to this one, or up to the first that cannot be proven. */
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

  /** The final block differs from the one we delivered, so no later block becomes final. */
  #refuse({ number, hash }: Unproven): void {
    const fields = { chain_id: this.#options.chain.chainId, block_number: number, block_hash: hash }
    this.#options.log('error', 'a block used without a proof turned out to be a different one', fields)
  }

  /** The lineage may have changed during the query; the committed block must still be on it. */
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
