/**
 * What blocks do not say, read at the tip after each commit: stable answers, pools nothing has vouched for lately,
 * and decimals that may have changed. A failure to read is tried again with a later block; a failed commit is thrown on.
 *
 * Everything here runs in the lane, so the tip it reads at is still the tip when the engine takes it.
 */
import { count, type Input, ms, type Pool, type State, type StepResult } from '@assay/engine'
import type { BlockRef, VerifiedBlock } from '../feed/feed.ts'
import { isFeedError } from '../feed/feedError.ts'
import type { Market } from '../market/market.ts'
import type { Clock } from '../ops/clock.ts'
import type { Address } from '../ops/config.ts'
import type { Log } from '../ops/log.ts'
import { DoubtedTokens } from './doubtedTokens.ts'
import { quietPools } from './quietPools.ts'

export type UpkeepContext = {
  readonly state: State
  readonly market: Market
  readonly apply: (input: Input) => Promise<StepResult>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly log: Log
}

/** Stable answers are read no more often than this: they change by the minute. */
const STABLE_INTERVAL_MS = 2000
/** Quiet pools are looked for this often. */
const QUIET_INTERVAL_MS = 15_000

export class Upkeep {
  readonly #context: UpkeepContext
  #stablesReadAtMs = Number.NEGATIVE_INFINITY
  #quietReadAtMs = 0
  readonly #doubted: DoubtedTokens

  constructor(context: UpkeepContext) {
    this.#context = context
    this.#doubted = new DoubtedTokens(context.state, context.clock.monotonicMs())
  }

  /** After a committed block: whatever is due. */
  async tend(tip: BlockRef, blocks: readonly Pick<VerifiedBlock, 'logs'>[]): Promise<void> {
    for (const block of blocks) this.#doubted.note(block)
    const nowMs = this.#context.clock.monotonicMs()
    if (nowMs - this.#stablesReadAtMs >= STABLE_INTERVAL_MS) {
      this.#stablesReadAtMs = nowMs
      await this.readStables(tip)
    }
    if (nowMs - this.#quietReadAtMs >= QUIET_INTERVAL_MS) {
      this.#quietReadAtMs = nowMs
      await this.recheck(quietPools(this.#context.state, this.#now()), tip)
    }
    for (const token of this.#doubted.due(nowMs)) await this.#readFacts(token, tip)
  }

  /** Answers are undone with the block they were read at: they are due at once. */
  reorganised(): void {
    this.#stablesReadAtMs = Number.NEGATIVE_INFINITY
  }

  async readStables(tip: BlockRef): Promise<void> {
    const { apply, log, market, signal, state } = this.#context
    try {
      const reading = await market.readStables(tip, signal)
      await apply({ kind: 'stable', block: engineRef(tip), ...reading, atMs: this.#now() })
    } catch (failure) {
      // A failed commit and a broken invariant end the host; a failure to read from the chain is tried again.
      if (!isFeedError(failure)) throw failure
      log.warn('stable answers could not be read', {
        chain_id: state.setup.chainId,
        block_number: tip.number,
      })
    }
  }

  /** Holds our state of these pools against the chain's; why it could not, or null. */
  async recheck(pools: readonly Pick<Pool, 'address' | 'terms'>[], tip: BlockRef): Promise<string | null> {
    if (pools.length === 0) return null
    const { apply, market, signal } = this.#context
    const asked = pools.map(pool => ({ address: pool.address, family: pool.terms.family }))
    try {
      const rechecked = await market.recheck(asked, tip, signal)
      await apply({ kind: 'recheck', block: engineRef(tip), pools: rechecked, atMs: this.#now() })
      return null
    } catch (failure) {
      if (isFeedError(failure)) return failure.message
      throw failure
    }
  }

  async #readFacts(token: Address, tip: BlockRef): Promise<void> {
    const { apply, log, market, signal, state } = this.#context
    try {
      const facts = await market.readToken(token, tip, signal)
      // What no longer answers like a token has no decimals either.
      const none = { token, decimals: null, reason: 'no longer a token', symbol: null, name: null }
      await apply({ kind: 'token_facts', block: engineRef(tip), facts: [facts ?? none], atMs: this.#now() })
      this.#doubted.settled(token)
    } catch (failure) {
      if (!isFeedError(failure)) throw failure
      log.warn('a token could not be read again', { chain_id: state.setup.chainId, token_address: token })
    }
  }

  #now() {
    return ms(this.#context.clock.nowMs())
  }
}

const engineRef = ({ number, hash, timeMs }: BlockRef) => ({
  number: count(number),
  hash,
  timeMs: ms(timeMs),
})
