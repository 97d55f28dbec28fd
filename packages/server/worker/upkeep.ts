/**
 * What blocks do not say, read at the tip after each commit: stable answers, pools nothing has vouched for lately,
 * and decimals that may have changed. A failure to read is tried again with a later block; a failed commit is thrown on.
 *
 * Everything here runs in the lane, so the tip it reads at is still the tip when the engine takes it.
 */
import { count, type Input, ms, type Pool, type State, type StepResult } from '@assay/engine'
import type { BlockRef, VerifiedBlock } from '../feed/feed.ts'
import { isFeedError } from '../feed/feedError.ts'
import type { Market, TokenFacts } from '../market/market.ts'
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import { Audit, bornAs, driftedTicks } from './audit.ts'
import { quietPools } from './quietPools.ts'

export type UpkeepContext = {
  readonly state: State
  readonly market: Market
  readonly apply: (input: Input) => Promise<StepResult>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly log: Log
  readonly intervals?: { readonly tokensMs: number; readonly poolsMs: number }
}

/** Stable answers are read no more often than this: they change by the minute. */
const STABLE_INTERVAL_MS = 2000
/** Quiet pools are looked for this often. */
const QUIET_INTERVAL_MS = 15_000
/** Some tokens, and some pools, are held against the chain this often: a thousand tokens in half an hour. */
const AUDIT_INTERVALS = { tokensMs: 15_000, poolsMs: 30_000 } as const

export class Upkeep {
  readonly #context: UpkeepContext
  #stablesReadAtMs = Number.NEGATIVE_INFINITY
  #quietReadAtMs = 0
  #tokensReadAtMs = 0
  #poolsReadAtMs = 0
  readonly #audit: Audit

  constructor(context: UpkeepContext) {
    this.#context = context
    this.#audit = new Audit(context.state)
  }

  /** After a committed block: whatever is due. */
  async tend(tip: BlockRef, blocks: readonly Pick<VerifiedBlock, 'logs'>[]): Promise<void> {
    const nowMs = this.#context.clock.monotonicMs()
    if (nowMs - this.#stablesReadAtMs >= STABLE_INTERVAL_MS) {
      this.#stablesReadAtMs = nowMs
      await this.readStables(tip)
    }
    if (nowMs - this.#quietReadAtMs >= QUIET_INTERVAL_MS) {
      this.#quietReadAtMs = nowMs
      await this.recheck(quietPools(this.#context.state, this.#now()), tip)
    }
    const { tokensMs, poolsMs } = this.#context.intervals ?? AUDIT_INTERVALS
    this.#audit.note(blocks)
    if (this.#audit.isInDoubt || nowMs - this.#tokensReadAtMs >= tokensMs) {
      this.#tokensReadAtMs = nowMs
      await this.#auditTokens(tip)
    }
    if (nowMs - this.#poolsReadAtMs >= poolsMs) {
      this.#poolsReadAtMs = nowMs
      await this.#auditPools(tip)
    }
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

  /** Decimals that changed take the price back until a second reading says the same (contract §2.6). */
  async #auditTokens(tip: BlockRef): Promise<void> {
    const { apply, log, market, signal, state } = this.#context
    try {
      const read = await Promise.all(
        this.#audit.tokens().map(async (token): Promise<TokenFacts> => {
          const gone = {
            token,
            decimals: null,
            reason: 'there is no token any more',
            symbol: null,
            name: null,
          }
          return (await market.readToken(token, tip, signal)) ?? gone
        }),
      )
      const facts = read.filter(each => this.#audit.differs(each))
      if (facts.length === 0) return this.#audit.settle(read)
      log.warn('tokens say something else of themselves than before', {
        chain_id: state.setup.chainId,
        tokens: facts.map(({ token, decimals, reason }) => ({ token, decimals, reason })),
      })
      await apply({ kind: 'token_facts', block: engineRef(tip), facts, atMs: this.#now() })
      this.#audit.settle(read)
    } catch (failure) {
      if (!isFeedError(failure)) throw failure
    }
  }

  /** A pool that drifted is unverified at once, and its whole state is read anew. */
  async #auditPools(tip: BlockRef): Promise<void> {
    const { apply, log, market, signal, state } = this.#context
    const pools = this.#audit.pools()
    try {
      const { loaded } = await market.load(pools.map(bornAs), tip, signal)
      const drifted = loaded.filter(each => {
        const pool = state.pools.get(each.pool.address)
        return pool !== undefined && driftedTicks(pool, each) > 0
      })
      const rechecked = loaded.map(({ pool, state: seen }) => ({ address: pool.address, state: seen }))
      if (rechecked.length > 0)
        await apply({ kind: 'recheck', block: engineRef(tip), pools: rechecked, atMs: this.#now() })
      const unlike = loaded.filter(({ pool }) => state.pools.get(pool.address)?.state.verified === false)
      for (const { pool } of new Set([...drifted, ...unlike]))
        log.warn('a pool drifted from the chain and is read anew', { pool_address: pool.address })
      if (drifted.length > 0)
        await apply({ kind: 'load', block: engineRef(tip), pools: drifted, atMs: this.#now() })
    } catch (failure) {
      if (!isFeedError(failure)) throw failure
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
