/**
 * A small chain, an engine on it, and one-line ways to drive both. Time only moves when a test moves it, and a
 * block is handed over at its own time. Every step is checked against the record laws.
 */
import type { V3Event } from '../amm/v3/kind.ts'
import type { Pool } from '../entities.ts'
import type { KnownRange } from '../amm/tickBook.ts'
import { assert } from '../assert.ts'
import type { Address, Block, BlockRef, Hex, NewPool, Proof } from '../chain/block.ts'
import { createState } from '../createState.ts'
import { step, type StepResult } from '../engine.ts'
import type { FeedStatus, Input, LoadedPool } from '../input.ts'
import type { SellabilityReading } from '../sellabilityReading.ts'
import type { Round } from '../rules/feedAnswer.ts'
import { mergePolicy } from '../policy/policyOverride.ts'
import { canonicalX } from '../setup.ts'
import type { State } from '../state.ts'
import { count, type Ms, ms } from '../units.ts'
import type { Fee } from './byHand.ts'
import { DAY, E6, MINUTE, USDC, USDT, WBTC, WETH } from './cast.ts'
import { ChainSim } from './chainSim.ts'
import type { TickFamily } from './tickFamilies.ts'
import { RecordLaws } from './recordLaws.ts'

const DECIMALS = new Map<Address, number>([
  [USDC, 6],
  [USDT, 6],
  [WBTC, 8],
])
const ASSET_FEED = { heartbeatMs: ms(30 * MINUTE), graceMs: ms(5 * MINUTE) }
const START_MS = 1_700_000_000_000

export type Setting = {
  readonly chainId?: number
  readonly stables?: readonly Address[]
  /** Null for stables without a feed. */
  readonly feed?: { readonly heartbeatMs: number; readonly graceMs: number } | null
  readonly routing?: readonly Address[]
  /** Feeds that routing assets are held against, all with these terms. */
  readonly assetFeeds?: readonly Address[]
  readonly hasSequencer?: boolean
  /** How far apart its blocks usually are; a block says when it is. */
  readonly blockMs?: number
  /** Laid over the default policy. */
  readonly policy?: unknown
}

export type PoolOptions = {
  readonly deployment?: string
  readonly fee?: Fee
  /** Null for a pool of unknown age: its average starts at its depth. */
  readonly createdMs?: number | null
  /** Left out, it has just traded. */
  readonly lastTradeMs?: number | null
}

type V3Options = PoolOptions & {
  /** v3 where left out. */
  readonly family?: TickFamily
  readonly tick?: number
  readonly feePpm?: bigint
  readonly tickSpacing?: number
  /** Only these ticks are loaded. */
  readonly known?: KnownRange
  readonly positions: readonly (readonly [lower: number, upper: number, liquidity: bigint])[]
}

type Body<Each> = Each extends unknown ? Omit<Each, 'atMs'> : never

export class Drive {
  readonly state: State
  sim: ChainSim
  nowMs: Ms
  /** Of the last step. */
  result!: StepResult
  tip!: BlockRef
  readonly #laws = new RecordLaws()

  constructor({
    chainId = 1,
    stables = [USDC],
    routing = [WETH],
    hasSequencer = false,
    blockMs = 12_000,
    ...rest
  }: Setting) {
    const feed = rest.feed === undefined ? { heartbeatMs: 365 * DAY, graceMs: MINUTE } : rest.feed
    this.state = createState(
      {
        chainId: count(chainId),
        blockTimeMs: ms(blockMs),
        stables: stables.map(token => ({ token, feed: feed as { heartbeatMs: Ms; graceMs: Ms } | null })),
        routingAssets: routing,
        assetFeeds: Object.fromEntries((rest.assetFeeds ?? []).map(asset => [asset, ASSET_FEED])),
        hasSequencer,
      },
      mergePolicy(rest.policy),
    )
    this.sim = new ChainSim({ startMs: START_MS, blockMs })
    this.nowMs = this.sim.timeMs
    this.health('HEALTHY')
    this.mine()
    for (const token of [...stables, ...routing]) this.decimals(token, DECIMALS.get(token) ?? 18)
    if (feed !== null) for (const token of stables) this.stable(token, 100_000_000n)
  }

  run(body: Body<Input>): StepResult {
    const input = { ...body, atMs: this.nowMs } as Input
    const orphaned = this.#withdrawn(input)
    this.result = step(this.state, input)
    this.#laws.check(this.result, orphaned)
    return this.result
  }

  /** Blocks whose records the input withdraws; after a long stop on a branch that died, all that are not final. */
  #withdrawn(input: Input): ReadonlySet<Hex> {
    const orphaned = new Set<Hex>()
    if (input.kind !== 'reorg' && input.kind !== 'rebase_head') return orphaned
    if (input.ancestor === this.state.chain.tip?.hash) return orphaned
    for (const { block } of this.state.journals.toReversed()) {
      if (input.kind === 'reorg' && block.hash === input.ancestor) break
      orphaned.add(block.hash)
    }
    return orphaned
  }

  /** Closes a block and hands it over at its own time. */
  mine(options: { proof?: Proof; afterMs?: number } = {}): Block {
    const block = this.sim.mine(options)
    this.#stand(block)
    this.run({ kind: 'block', block })
    return block
  }

  /** A fork of this chain that continues separately. */
  branch(name = 'b'): ChainSim {
    return this.sim.fork(name)
  }

  /** The chain becomes `branch`, whose blocks these are. */
  reorg(branch: ChainSim, blocks: readonly Block[]): StepResult {
    const [first] = blocks
    assert(first !== undefined, 'a branch has at least one block')
    this.sim = branch
    this.#stand(blocks.at(-1) as Block)
    return this.run({ kind: 'reorg', ancestor: first.parentHash, blocks })
  }

  /** Blocks that nobody watched, one per minute; the last of them becomes the head the chain starts again from. */
  rebase(forMs: number, options: { sim?: ChainSim; ancestor?: Hex } = {}): StepResult {
    const ancestor = options.ancestor ?? this.tip.hash
    this.sim = options.sim ?? this.sim
    for (let passed = MINUTE; passed < forMs; passed += MINUTE) this.sim.mine({ afterMs: MINUTE })
    const block = this.sim.mine({ afterMs: MINUTE })
    this.#stand(block)
    const health = { status: 'GAP', record: { status: 'GAP' } } as const
    return this.run({ kind: 'rebase_head', block: this.tip, ancestor, health })
  }

  #stand(block: Block): void {
    this.tip = { number: block.number, hash: block.hash, timeMs: block.timeMs }
    if (block.timeMs > this.nowMs) this.nowMs = block.timeMs
  }

  /** The tip and all before it. */
  finalize(block: BlockRef = this.tip): StepResult {
    return this.run({ kind: 'finalize', number: block.number, hash: block.hash })
  }

  /** Nothing happens for a while, then the timer is asked. */
  wait(forMs: number): StepResult {
    this.nowMs = ms(this.nowMs + forMs)
    return this.run({ kind: 'timer' })
  }

  /** Blocks without events, one per `everyMs`, for so long. */
  quiet(forMs: number, everyMs = MINUTE): void {
    for (let passed = 0; passed < forMs; passed += everyMs)
      this.mine({ afterMs: Math.min(everyMs, forMs - passed) })
  }

  /** Comes back when the engine asked to. */
  timer(): StepResult {
    const { nextTimerMs } = this.result
    assert(nextTimerMs !== null, 'no timer was requested')
    this.nowMs = nextTimerMs
    return this.run({ kind: 'timer' })
  }

  /** `updatedAtMs` is when the feed wrote it; left out, now. */
  health(status: FeedStatus, updatedAtMs: number = this.nowMs): StepResult {
    return this.run({ kind: 'health', health: { status, record: { status, updated_at_ms: updatedAtMs } } })
  }

  decimals(
    token: Address,
    decimals: number | null,
    reason: string | null = null,
    block = this.tip,
  ): StepResult {
    const value = decimals === null ? null : count(decimals)
    return this.run({
      kind: 'token_facts',
      block,
      facts: [{ token, decimals: value, reason, symbol: null, name: null }],
    })
  }

  /** The same, which an operator has confirmed. */
  confirm(token: Address, decimals: number, block = this.tip): StepResult {
    const facts = {
      token,
      decimals: count(decimals),
      reason: null,
      confirmed: true,
      symbol: null,
      name: null,
    }
    return this.run({ kind: 'token_facts', block, facts: [facts] })
  }

  /** A complete answer with 8 decimals, made now unless `answer` says otherwise. */
  stable(token: Address, value: bigint, answer: Partial<Round> = {}, block = this.tip): StepResult {
    const whole = { value, decimals: count(8), updatedAtMs: this.nowMs, complete: true, ...answer }
    return this.run({
      kind: 'stable',
      block,
      answers: [{ token, answer: whole }],
      sequencer: this.state.chain.sequencer,
    })
  }

  /** The same as a proven block logs it; of a stable or of a routing asset. */
  answered(token: Address, value: bigint, answer: Partial<Round> = {}, block = this.tip): StepResult {
    const whole = { value, decimals: count(8), updatedAtMs: this.nowMs, complete: true, ...answer }
    return this.run({ kind: 'feed_answer', block, answers: [{ token, answer: whole }] })
  }

  /** Found sellable before, unless a test says otherwise. */
  enrol(token: Address, decimals = 18): StepResult {
    if (this.state.tokens.get(token)?.decimals == null) this.decimals(token, decimals)
    if (this.state.tokens.get(token)?.sellability === undefined) this.probed(token)
    return this.run({ kind: 'enrol', token })
  }

  /** What a simulated sale of it found; left out, that it can be sold without a tax. */
  probed(token: Address, found: Partial<SellabilityReading> = {}, block = this.tip): StepResult {
    const free = { buyTaxBps: count(0), transferTaxBps: count(0), sellTaxBps: count(0) }
    const made = {
      pool: null,
      path: [],
      sizes: [],
      method: 'CALL_OVERRIDE' as const,
      revert: null,
      reason: null,
    }
    const readings = [{ token, status: 'SELLABLE' as const, ...free, ...made, ...found }]
    return this.run({ kind: 'sellability', block, readings })
  }

  unenrol(token: Address, reason: 'OPERATOR' | 'DORMANT' = 'OPERATOR'): StepResult {
    return this.run({ kind: 'unenrol', token, reason })
  }

  policy(overrides: unknown): StepResult {
    return this.run({ kind: 'policy', policy: mergePolicy(overrides) })
  }

  coverage(token: Address, usd: bigint, asOfMs: Ms = this.nowMs): StepResult {
    return this.run({ kind: 'coverage', assets: [{ token, depthMicrousd: usd * E6, asOfMs }] })
  }

  pause(paused: boolean): StepResult {
    return this.run({ kind: 'pause', paused })
  }

  // Pools. Established ones are read at the tip; `born` ones come with the next block.

  v2(
    pool: Address,
    a: readonly [Address, bigint],
    b: readonly [Address, bigint],
    options: PoolOptions = {},
  ): Pool {
    this.bornV2(pool, a, b, options)
    this.sim.forget()
    return this.load(pool, options)
  }

  bornV2(
    pool: Address,
    a: readonly [Address, bigint],
    b: readonly [Address, bigint],
    options: PoolOptions = {},
  ): void {
    const [[token0, reserve0], [token1, reserve1]] = a[0] <= b[0] ? [a, b] : [b, a]
    const { deployment, fee } = options
    this.sim.createV2({
      address: pool,
      token0,
      token1,
      ...(deployment && { deploymentId: deployment }),
      ...(fee && { fee }),
    })
    if (reserve0 > 0n || reserve1 > 0n) this.sim.reserves(pool, reserve0, reserve1)
  }

  v3(pool: Address, a: Address, b: Address, options: V3Options): Pool {
    this.bornV3(pool, a, b, options)
    this.sim.forget()
    return this.load(pool, options, options.known)
  }

  bornV3(pool: Address, a: Address, b: Address, options: V3Options): void {
    const [token0, token1] = a <= b ? [a, b] : [b, a]
    const { deployment, family, feePpm, tickSpacing, tick = 0 } = options
    this.sim.createV3({
      ...(family && { family }),
      address: pool,
      token0,
      token1,
      tick,
      ...(deployment && { deploymentId: deployment }),
      ...(feePpm !== undefined && { feePpm }),
      ...(tickSpacing !== undefined && { tickSpacing }),
    })
    for (const [lower, upper, liquidity] of options.positions)
      this.sim.liquidity(pool, lower, upper, liquidity)
  }

  /** Reads the pool at the tip. */
  load(
    pool: Address,
    { createdMs = null, lastTradeMs = this.nowMs }: PoolOptions = {},
    known?: KnownRange,
  ): Pool {
    const loaded: LoadedPool = {
      ...this.sim.loaded(pool, known),
      createdMs: createdMs === null ? null : ms(createdMs),
      lastTradeMs: lastTradeMs === null ? null : ms(lastTradeMs),
    }
    this.run({ kind: 'load', block: this.tip, pools: [loaded] })
    return this.pool(pool)
  }

  /** Reads the pool's state again, without its ticks. */
  recheck(pool: Address, seen = this.sim.amm(pool)): StepResult {
    return this.run({ kind: 'recheck', block: this.tip, pools: [{ address: pool, state: seen }] })
  }

  /** Sells X for Y in the canonical orientation. */
  sell(pool: Address, amount: bigint): void {
    this.sim.swap(pool, this.#x(pool), amount)
  }

  /** Buys X with Y. */
  buy(pool: Address, amount: bigint): void {
    this.sim.swap(pool, this.#x(pool) === 0 ? 1 : 0, amount)
  }

  /** Sets a v2 pool's reserves, as a Mint or Burn would. */
  reserves(pool: Address, x: bigint, y: bigint): void {
    this.sim.reserves(pool, ...(this.#x(pool) === 0 ? ([x, y] as const) : ([y, x] as const)))
  }

  /** A v2 Sync that no swap or liquidity explains. */
  sync(pool: Address, x: bigint, y: bigint): void {
    const [reserve0, reserve1] = this.#x(pool) === 0 ? [x, y] : [y, x]
    this.sim.forge(pool, { kind: 'SYNC', reserve0, reserve1 })
  }

  /** A v2 Swap as its log has it, net of nothing. */
  swapLog(
    pool: Address,
    x: readonly [input: bigint, output: bigint],
    y: readonly [input: bigint, output: bigint],
  ): void {
    const [of0, of1] = this.#x(pool) === 0 ? [x, y] : [y, x]
    const [amount0In, amount0Out] = of0
    const [amount1In, amount1Out] = of1
    this.sim.forge(pool, { kind: 'SWAP', amount0In, amount1In, amount0Out, amount1Out })
  }

  /** Any v3 event, true or not. */
  forge(pool: Address, event: V3Event): void {
    this.sim.forge(pool, event)
  }

  #x(pool: Address): 0 | 1 {
    const { token0, token1 }: NewPool = this.sim.born(pool)
    return canonicalX(this.state.setup, token0, token1)
  }

  pool(pool: Address): Pool {
    const known = this.state.pools.get(pool)
    assert(known !== undefined, () => `${pool} is not known`)
    return known
  }
}
