/**
 * Brings readings of the chain into the engine. A reading is made beside the lane, at the block that is the tip when it
 * begins, however many blocks pass meanwhile; only the result is handed in, between two blocks. If its block was
 * orphaned meanwhile, the reading is repeated at the new tip.
 */
import { bringForward, count, type Input, type LoadedPool, ms, type Pool, type State } from '@assay/engine'
import { FeedError, isFeedError } from '../../feed/feedError.ts'
import type { Market, TickSpan } from '../../market/market.ts'
import type { Address } from '../../ops/hex.ts'
import type { Log } from '../../ops/log.ts'
import type { AtTip, Folded, LookBacks } from './lookBacks.ts'
import { joined, type RecentBlocks } from '../recentBlocks.ts'

type BlockRef = Extract<Input, { kind: 'load' }>['block']
type NewPool = LoadedPool['pool']

/** The calls to use, and the signal that limits them. */
export type Means = { readonly market: Market; readonly signal: AbortSignal }

export type IntakeContext = {
  readonly state: State
  readonly recent: RecentBlocks
  /** Left out, pools come in without looking back. */
  readonly lookBacks?: LookBacks | undefined
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<unknown>
  readonly inLane: <Result>(task: () => Promise<Result>) => Promise<Result>
  readonly now: () => Input['atMs']
  readonly log: Log
}

/** It is rare that the block of a reading is orphaned; several in a row mean that the chain cannot be read now. */
const TRIES = 5
/** Pools handed in per step: a few milliseconds, so that a block hardly waits for them. */
const TOGETHER = 50
const UNREAD = 'UNREAD' as const
const NOTHING: AtTip = { pools: [], pasts: [] }

export class Intake {
  readonly #context: IntakeContext

  constructor(context: IntakeContext) {
    this.#context = context
  }

  tip(): BlockRef {
    const { tip } = this.#context.state.chain
    if (tip === null) throw new FeedError('NO_ENDPOINT', null, 'no block has been seen yet')
    return { number: count(tip.number), hash: tip.hash, timeMs: ms(tip.timeMs) }
  }

  /** `hand` runs in the lane, while the block of the reading is still on our chain. */
  async take<Read, Result>(
    { signal }: Means,
    read: (block: BlockRef) => Promise<Read>,
    hand: (read: Read, block: BlockRef) => Promise<Result>,
  ): Promise<Result> {
    const { inLane } = this.#context
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const block = this.tip()
      const answer = await this.#unlessOrphaned(block, read(block))
      if (answer === null) continue
      const taken = await inLane(async () => {
        signal.throwIfAborted()
        return this.#isOurs(block) ? { result: await hand(answer.read, block) } : null
      })
      if (taken !== null) return taken.result
    }
    throw movedTooOften()
  }

  /** Reads at a block that is still on our chain when the answer arrives. */
  read<Read>(means: Means, read: (block: BlockRef) => Promise<Read>): Promise<Read> {
    return this.take(means, read, async answer => answer)
  }

  /** Reads facts that are missing for these addresses; returns those that are tokens. */
  async facts(tokens: readonly Address[], means: Means): Promise<ReadonlySet<Address>> {
    const { apply, now, recent, state } = this.#context
    const isUnread = (token: Address) => (state.tokens.get(token)?.decimals ?? null) === null
    const unread = [...new Set(tokens)].filter(isUnread)
    if (unread.length === 0) return new Set(tokens)
    const { market, signal } = means
    return this.take(
      means,
      block => {
        const earlier = recent.parentOf(block.hash)
        return Promise.all(unread.map(token => market.readToken(token, block, signal, earlier)))
      },
      async (read, block) => {
        const facts = read.filter(each => each !== null)
        if (facts.length > 0) await apply({ kind: 'token_facts', block, facts, atMs: now() })
        const unknown = new Set(unread.filter((_, at) => read[at] === null))
        return new Set(tokens.filter(token => !unknown.has(token)))
      },
    )
  }

  /**
   * Loads the whole state of pools that a factory confirmed. Decimals of both sides come first: a pool's first record
   * stays until it changes, and would show no price without them.
   */
  async pools(pools: readonly NewPool[], means: Means): Promise<void> {
    let left = pools
    for (let attempt = 1; left.length > 0; attempt++) {
      if (attempt > TRIES) throw movedTooOften()
      left = await this.#poolsOnce(left, means)
    }
  }

  /** Compares our state of these pools with the chain. */
  async recheck(
    pools: readonly Pick<Pool, 'address' | 'deploymentId' | 'terms'>[],
    means: Means,
  ): Promise<void> {
    if (pools.length === 0) return
    const { apply, now } = this.#context
    const asked = pools.map(({ address, deploymentId, terms }) => ({
      address,
      deploymentId,
      family: terms.family,
    }))
    await this.take(
      means,
      block => means.market.recheck(asked, block, means.signal),
      (rechecked, block) => apply({ kind: 'recheck', block, pools: rechecked, atMs: now() }),
    )
  }

  /** Call inside the lane. Brings pools forward to the tip; null for those that must be read again. */
  atTip(loaded: readonly LoadedPool[], block: BlockRef): readonly (LoadedPool | null)[] {
    const passed = this.#context.recent.since(block.hash)
    return loaded.map(each => (passed === null ? null : bringForward(each, passed)))
  }

  /** Keeps the events of pools that are about to be read; see `RecentBlocks`. */
  watch(pools: readonly NewPool[]): () => void {
    return this.#context.recent.watch(pools)
  }

  /** One attempt; returns the pools that must be read again. */
  async #poolsOnce(pools: readonly NewPool[], means: Means): Promise<readonly NewPool[]> {
    const { state, inLane, log } = this.#context
    const { market, signal } = means
    const known = new Set(pools.filter(({ address }) => state.pools.has(address)))
    const again: NewPool[] = []
    const block = this.tip()
    const unwatch = this.watch(pools)
    try {
      const sides = pools.flatMap(({ token0, token1 }) => [token0, token1])
      const unfollowed = pools.filter(pool => !this.#isFollowed(pool))
      const [window] = await Promise.all([this.#windowOf(unfollowed, block, means), this.facts(sides, means)])
      const spans = this.#spansOf(pools, window?.spans)
      const answer = await this.#unlessOrphaned(block, market.load(pools, block, signal, undefined, spans))
      if (answer === null) return pools
      const { loaded, failed } = answer.read
      for (const { pool, reason } of failed)
        log.warn('a pool could not be read', { pool_address: pool, reason })
      const looked = loaded.filter(({ pool }) => !this.#isFollowed(pool))
      const folded =
        window === null ? null : ((await this.#context.lookBacks?.fold(window, looked, means)) ?? null)
      // A pool that became known meanwhile is complete: it came from its factory's log or another reading.
      const isWanted = ({ pool }: LoadedPool) => known.has(pool) || !state.pools.has(pool.address)
      for (let from = 0; from < loaded.length; from += TOGETHER)
        await inLane(async () => {
          signal.throwIfAborted()
          const wanted = loaded.slice(from, from + TOGETHER).filter(isWanted)
          again.push(...(await this.#handIn(wanted, block, folded)))
        })
      return again
    } finally {
      unwatch()
    }
  }

  /** Call inside the lane. Returns the pools that must be read again. */
  async #handIn(
    loaded: readonly LoadedPool[],
    block: BlockRef,
    folded: Folded | null,
  ): Promise<readonly NewPool[]> {
    const { apply, now, recent, lookBacks } = this.#context
    const back = folded === null ? NOTHING : folded.atTip(hash => recent.since(hash))
    if (back === null) return loaded.map(({ pool }) => pool)
    const own = new Set<string>(loaded.map(({ pool }) => pool.address))
    const withPast = back.pools.filter(({ pool }) => own.has(pool.address) && !this.#isFollowed(pool))
    if (withPast.length > 0)
      await apply({
        kind: 'look_back',
        block: this.tip(),
        pools: withPast,
        pasts: back.pasts.filter(({ token }) =>
          withPast.some(({ pool: { token0, token1 } }) => token === token0 || token === token1),
        ),
        atMs: now(),
      })
    const done = new Set<string>(withPast.map(({ pool }) => pool.address))
    const rest = loaded.filter(({ pool }) => !done.has(pool.address))
    const there = this.atTip(rest, block)
    const pools = there
      .filter(each => each !== null)
      .map(each =>
        lookBacks === undefined || this.#isFollowed(each.pool) ? each : { ...each, past: UNREAD },
      )
    if (pools.length > 0) await apply({ kind: 'load', block: this.tip(), pools, atMs: now() })
    return rest.filter((_, at) => there[at] === null).map(({ pool }) => pool)
  }

  /** Its history is unbroken, which is better than any look-back. */
  #isFollowed({ address }: Pick<NewPool, 'address'>): boolean {
    return this.#context.state.pools.get(address)?.state.isBeforeGap === false
  }

  async #windowOf(pools: readonly NewPool[], block: BlockRef, means: Means): ReturnType<LookBacks['read']> {
    if (pools.length === 0) return null
    return (await this.#context.lookBacks?.read(pools, block, means)) ?? null
  }

  /** How far to read the ticks of each pool: over its look-back, and over moves within the last blocks. */
  #spansOf(
    pools: readonly NewPool[],
    past: ReadonlyMap<Address, TickSpan> | undefined,
  ): ReadonlyMap<Address, TickSpan> {
    const { recent } = this.#context
    return new Map(
      pools.flatMap(({ address }) => {
        const span = joined(past?.get(address), recent.swingOf(address))
        return span === undefined ? [] : [[address, span]]
      }),
    )
  }

  #isOurs({ hash }: BlockRef): boolean {
    return this.#context.recent.since(hash) !== null
  }

  /** A node forgets an orphaned block, so a failed reading at one means nothing. */
  async #unlessOrphaned<Read>(
    block: BlockRef,
    reading: Promise<Read>,
  ): Promise<{ readonly read: Read } | null> {
    try {
      return { read: await reading }
    } catch (failure) {
      if (isFeedError(failure) && !this.#isOurs(block)) return null
      throw failure
    }
  }
}

const movedTooOften = (): FeedError =>
  new FeedError('BLOCK_UNKNOWN', null, `the chain changed under ${TRIES} readings in a row`)
