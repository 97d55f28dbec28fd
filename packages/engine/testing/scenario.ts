/**
 * A small chain, an engine on it, and one-line ways to drive both: `const s = scenario(); s.v2(P1, [T, …],
 * [USDC, …]); s.enrol(T); s.price(T)`. Time stands still unless a test moves it, and a block is handed over
 * at its own time.
 *
 * Every step is checked against the record laws, so a test only says what is particular to it.
 */
import type { V3Event } from '../amm/adapter.ts'
import type { KnownRange } from '../amm/tickBook.ts'
import { assert } from '../assert.ts'
import type { Address, Block, BlockRef, Hex, NewPool, Proof } from '../chain/block.ts'
import { createState } from '../createState.ts'
import { step, type StepResult } from '../engine.ts'
import type { FeedStatus, Input, LoadedPool, StableAnswer } from '../input.ts'
import { edgeOf } from '../price/edge.ts'
import { evaluate, valueAssets } from '../price/evaluate.ts'
import type { Edge, Evaluation, Priced } from '../price/evaluation.ts'
import { type Moment, momentOf } from '../price/moment.ts'
import { mergePolicy } from '../price/policyOverride.ts'
import { quoteText } from '../price/quote.ts'
import type { CompactPriced, CompactState, EngineRecord, PoolStateText } from '../record.ts'
import { canonicalX } from '../setup.ts'
import type { Pool, State, Token } from '../state.ts'
import { count, type Ms, ms } from '../units.ts'
import type { Fee, Rational } from './byHand.ts'
import { address, ChainSim } from './chainSim.ts'
import type { QuoteView } from './quoteLaws.ts'
import { contentOf, RecordLaws } from './recordLaws.ts'

export const USDC = address(1)
export const WETH = address(3)
export const WBTC = address(4)
export const T = address(0x10)
export const U = address(0x11)
/** A stable that sorts after every token, so that it is token1 of its pools. */
export const DAI = address(0xffff)
export const [P1, P2, P3, P4, P5, P6, P7, P8] = [1, 2, 3, 4, 5, 6, 7, 8].map(n => address(0x100 + n)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]

export const E6 = 10n ** 6n
export const E18 = 10n ** 18n
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

const DECIMALS = new Map<Address, number>([
  [USDC, 6],
  [WBTC, 8],
])
const START_MS = 1_700_000_000_000

export type Setting = {
  readonly chainId?: number
  readonly stables?: readonly Address[]
  /** Null for stables without a feed. */
  readonly feed?: { readonly heartbeatMs: number; readonly graceMs: number } | null
  readonly routing?: readonly Address[]
  readonly hasSequencer?: boolean
  /** Laid over the default policy. */
  readonly policy?: unknown
}

export type PoolOptions = {
  readonly deployment?: string
  readonly fee?: Fee
  /** Null for a pool of unknown age: its average starts at its depth. */
  readonly createdMs?: number | null
  readonly lastTradeMs?: number | null
}

type V3Options = PoolOptions & {
  readonly tick?: number
  readonly feePpm?: bigint
  readonly tickSpacing?: number
  /** Only these ticks are loaded. */
  readonly known?: KnownRange
  readonly positions: readonly (readonly [lower: number, upper: number, liquidity: bigint])[]
}

type Body<Each> = Each extends unknown ? Omit<Each, 'atMs'> : never

export const scenario = (setting: Setting = {}): Scenario => new Scenario(setting)

export class Scenario {
  readonly state: State
  sim: ChainSim
  nowMs: Ms
  /** Of the last step. */
  result!: StepResult
  tip!: BlockRef
  readonly #laws = new RecordLaws()

  constructor({ chainId = 1, stables = [USDC], routing = [WETH], hasSequencer = false, ...rest }: Setting) {
    const feed = rest.feed === undefined ? { heartbeatMs: 365 * DAY, graceMs: MINUTE } : rest.feed
    this.state = createState(
      {
        chainId: count(chainId),
        stables: stables.map(token => ({ token, feed: feed as { heartbeatMs: Ms; graceMs: Ms } | null })),
        routingAssets: routing,
        hasSequencer,
      },
      mergePolicy(rest.policy),
    )
    this.sim = new ChainSim({ startMs: START_MS })
    this.nowMs = this.sim.timeMs
    this.health('HEALTHY')
    this.mine()
    for (const token of [...stables, ...routing]) this.decimals(token, DECIMALS.get(token) ?? 18)
    if (feed !== null) for (const token of stables) this.stable(token, 100_000_000n)
  }

  // What may happen.

  run(body: Body<Input>): StepResult {
    const input = { ...body, atMs: this.nowMs } as Input
    const orphaned = new Set<Hex>()
    if (input.kind === 'reorg')
      for (const { block } of this.state.journals.toReversed()) {
        if (block.hash === input.ancestor) break
        orphaned.add(block.hash)
      }
    this.result = step(this.state, input)
    this.#laws.check(this.result, orphaned)
    return this.result
  }

  /** Closes a block and hands it over at its own time. */
  mine(options: { proof?: Proof; afterMs?: number } = {}): Block {
    const block = this.sim.mine(options)
    this.#stand(block)
    this.run({ kind: 'block', block })
    return block
  }

  /** A chain that goes on from here apart from this one. */
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
    assert(nextTimerMs !== null, 'no timer was asked for')
    this.nowMs = nextTimerMs
    return this.run({ kind: 'timer' })
  }

  health(status: FeedStatus): StepResult {
    return this.run({ kind: 'health', health: { status, record: { status } } })
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

  /** A complete answer with 8 decimals, made now unless `answer` says otherwise. */
  stable(token: Address, value: bigint, answer: Partial<StableAnswer> = {}, block = this.tip): StepResult {
    const whole = { value, decimals: count(8), updatedAtMs: this.nowMs, complete: true, ...answer }
    return this.run({
      kind: 'stable',
      block,
      answers: [{ token, answer: whole }],
      sequencer: this.state.chain.sequencer,
    })
  }

  enrol(token: Address, decimals = 18): StepResult {
    if (this.state.tokens.get(token)?.decimals == null) this.decimals(token, decimals)
    return this.run({ kind: 'enrol', token })
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
    const { deployment, feePpm, tickSpacing, tick = 0 } = options
    this.sim.createV3({
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
  load(pool: Address, { createdMs = null, lastTradeMs = null }: PoolOptions = {}, known?: KnownRange): Pool {
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

  // What came of it.

  pool(pool: Address): Pool {
    const known = this.state.pools.get(pool)
    assert(known !== undefined, () => `${pool} is not known`)
    return known
  }

  token(token: Address): Token {
    const known = this.state.tokens.get(token)
    assert(known !== undefined, () => `${token} is not known`)
    return known
  }

  moment(): Moment {
    const moment = momentOf(this.state, this.nowMs)
    valueAssets(moment)
    return moment
  }

  edge(pool: Address): Edge {
    return edgeOf(this.moment(), this.pool(pool))
  }

  /** Computed now, published or not. */
  evaluation(token: Address): Evaluation {
    const moment = this.moment()
    return moment.valuations.get(token)?.evaluation ?? evaluate(moment, token)
  }

  pricedNow(token: Address): Priced {
    const evaluation = this.evaluation(token)
    assert(
      evaluation.kind === 'PRICED',
      () =>
        `${token} is UNPRICED: ${evaluation.kind === 'UNPRICED' ? evaluation.reason : ''} ${rulesOf(evaluation)}`,
    )
    return evaluation
  }

  quote(token: Address): QuoteView {
    const text: unknown = quoteText(
      this.state.setup.chainId,
      this.evaluation(token),
      this.state.policyView.version,
      'COMPUTED',
    )
    return text as QuoteView
  }

  /** The last record's state. */
  published(token: Address): CompactState {
    const { published } = this.token(token)
    assert(published !== null, () => `${token} was never published`)
    return published.compact
  }

  priced(token: Address): CompactPriced {
    const compact = this.published(token)
    assert(
      compact.state === 'PRICED',
      () =>
        `${token} is UNPRICED: ${'reason' in compact ? compact.reason : ''} ${rulesOf(this.evaluation(token))}`,
    )
    return compact
  }

  /** The reason why not. */
  unpriced(token: Address): string {
    const compact = this.published(token)
    assert(compact.state === 'UNPRICED', () => `${token} is PRICED`)
    return compact.reason
  }

  price(token: Address): Rational {
    const { numerator, denominator } = this.priced(token).price_usd
    return { num: BigInt(numerator), den: BigInt(denominator) }
  }

  score(token: Address): number {
    return this.priced(token).confidence.score
  }

  /** Records of the last step, by what they are about. */
  tokenRecords(token?: Address): EngineRecord[] {
    return this.#recordsOf('token').filter(
      record => token === undefined || record.routing.token_ids.includes(this.token(token).id),
    )
  }

  poolRecords(): EngineRecord[] {
    return this.#recordsOf('pool')
  }

  swapRecords(): Extract<EngineRecord, { type: 'SWAP_OBSERVED' }>[] {
    return this.result.records.filter(record => record.type === 'SWAP_OBSERVED')
  }

  /** The state in the last step's record of this pool. */
  poolText(pool: Address): PoolStateText {
    const id = this.pool(pool).id
    const record = this.poolRecords().find(each => each.routing.pool_ids.includes(id))
    assert(record !== undefined, () => `no record of ${pool}`)
    return contentOf(record) as PoolStateText
  }

  /** `type reason` of the last step's record of this token, or `none`. */
  said(token: Address): string {
    const [record] = this.tokenRecords(token)
    if (record === undefined) return 'none'
    return record.type === 'PRICE_RETRACT' ? `PRICE_RETRACT ${record.payload.reason}` : record.type
  }

  #recordsOf(scope: 'token' | 'pool'): EngineRecord[] {
    return this.result.records.filter(
      record =>
        (record.type === 'PRICE_UPSERT' || record.type === 'PRICE_RETRACT') && record.payload.scope === scope,
    )
  }
}

const rulesOf = ({ routes }: Evaluation): string =>
  routes
    .map(({ failure, exclusion }) => `${failure?.rule ?? exclusion ?? 'ok'} ${failure?.actual ?? ''}`)
    .join('; ')
