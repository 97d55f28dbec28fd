/**
 * PancakeSwap v3 and Algebra v1 against their published contracts, on random states. (Uniswap v3 has a test of its own, with
 * every edge of the curve they share.)
 *
 * A twin is advanced by the pool's events alone. Before each Swap the twin foresees it from what was asked: amounts, price,
 * tick and liquidity must be those of the log, at the fee the pool reported. Then its storage is read, fee included, and the
 * contract is asked for its depth, and the published quoter for both kinds of swap.
 */
import {
  algebraPoolAbi,
  type Anvil,
  type Client,
  connect,
  creationCode,
  deploy,
  createAlgebraPool,
  createPancakePool,
  deployAlgebraFactory,
  deployPancakeFactory,
  deployToken,
  deployTrader,
  type DeployerFactory,
  pancakePoolAbi,
  Random,
  send,
  startAnvil,
  trader,
  v3FactoryAbi,
  v3PoolAbi,
} from '@assay/world'
import {
  type Address,
  concatHex,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
} from 'viem'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cases } from '../testing/cases.ts'
import { printedSeed } from '../testing/printedSeed.ts'
import {
  depthQuestions,
  drawLimit,
  drawRange,
  drawSide,
  extremeOf,
  INT256_MAX,
  LADDER,
  rangeOf,
  reserve,
  specified,
  storedTicks,
  TWO_PERCENT,
} from '../testing/tickDraws.ts'
import { expectVerified } from '../testing/verified.ts'
import { count, tick as toTick } from '../units.ts'
import type { AlgebraEvent } from './algebra/kind.ts'
import type { Boundary } from './adapter.ts'
import { type AmmState, adapterOf, type AnyAdapter, type Born, type PoolTerms } from './families.ts'
import type { Side, Slot } from './states.ts'
import * as swapLoop from './swapLoop.ts'
import type { TickBook } from './tickBook.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO } from './tickMath.ts'

const GAS = 100_000_000_000n

const SWAPS_PER_ROUND = 32
const FIRST_MINTS = 6
const FAR_TICK = 300_000
const ROUNDS = cases(2)
const QUOTES_PER_ROUND = 2

type Contracts = {
  readonly name: string
  readonly tiers: readonly { readonly feePpm: number; readonly tickSpacing: number }[]
  create(pair: readonly [Address, Address], feePpm: number): Promise<Address>
  /** Takes a share of the fees for the operator of the pools. */
  charge(pool: Address, feePpm: number): Promise<void>
  born(tier: { readonly feePpm: number; readonly tickSpacing: number }): Born
  mint(pool: Address, lower: number, upper: number, liquidity: bigint): Hex
  events(logs: TransactionReceipt['logs']): AlgebraEvent[]
  state(pool: Address): Promise<AmmState>
  /** The published quoter's result for an exact input, or output, and its fee. */
  quote(question: Question): Promise<{ readonly amount: bigint; readonly feePpm: bigint | null }>
}

type Question = {
  readonly kind: 'EXACT_IN' | 'EXACT_OUT'
  readonly tokenIn: Address
  readonly tokenOut: Address
  readonly amount: bigint
  readonly feePpm: number
}

type Subject = {
  readonly of: Contracts
  readonly pool: Address
  readonly pair: readonly [Address, Address]
  readonly feePpm: number
  readonly adapter: AnyAdapter
  readonly terms: PoolTerms
  readonly spacing: number
  state: AmmState
  readonly positions: Map<string, { lower: number; upper: number; liquidity: bigint }>
}

const seed = printedSeed()
const done = {
  swaps: new Map<string, number>(),
  quotes: new Map<string, number>(),
  depths: 0,
  fees: new Set<bigint>(),
}
const add = (to: Map<string, number>, name: string) => to.set(name, (to.get(name) ?? 0) + 1)
let anvil: Anvil
let client: Client
let hands: Address
let pancakes: DeployerFactory
let algebras: DeployerFactory
let quoters: { readonly pancake: Address; readonly algebra: Address }

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: 10n * GAS })
  client = connect(anvil.url)
  hands = await deployTrader(client)
  pancakes = await deployPancakeFactory(client)
  algebras = await deployAlgebraFactory(client)
  quoters = { pancake: await deployQuoter('pancake'), algebra: await deployQuoter('algebra') }
})
afterAll(() => anvil.close())

const pancakeQuoterAbi = parseAbi([
  'struct Input { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }',
  'struct Output { address tokenIn; address tokenOut; uint256 amount; uint24 fee; uint160 sqrtPriceLimitX96; }',
  'function quoteExactInputSingle(Input) returns (uint256 amountOut, uint160, uint32, uint256)',
  'function quoteExactOutputSingle(Output) returns (uint256 amountIn, uint160, uint32, uint256)',
])
const algebraQuoterAbi = parseAbi([
  'function quoteExactInputSingle(address, address, uint256 amountIn, uint160) returns (uint256 amountOut, uint16 fee)',
  'function quoteExactOutputSingle(address, address, uint256 amountOut, uint160) returns (uint256 amountIn, uint16 fee)',
])

/** As published. Neither needs the wrapped native currency for what it is asked. */
function deployQuoter(of: 'pancake' | 'algebra'): Promise<Address> {
  const require = createRequire(import.meta.url)
  const [artifact, constructor] =
    of === 'pancake'
      ? [
          require('@pancakeswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json'),
          [pancakes.deployer, pancakes.factory, zeroAddress],
        ]
      : [
          require('@cryptoalgebra/periphery/artifacts/contracts/lens/Quoter.sol/Quoter.json'),
          [algebras.factory, zeroAddress, algebras.deployer],
        ]
  const types = parseAbiParameters('address, address, address')
  const args = encodeAbiParameters(types, constructor as [Address, Address, Address])
  return deploy(client, concatHex([creationCode(artifact), args]))
}

const slotEvents = (logs: TransactionReceipt['logs']) =>
  parseEventLogs({ abi: v3PoolAbi, logs }).flatMap((log): { at: number; event: AlgebraEvent }[] => {
    const at = log.logIndex
    switch (log.eventName) {
      case 'Initialize':
        return [
          {
            at,
            event: {
              kind: 'INITIALIZE',
              sqrtPriceX96: log.args.sqrtPriceX96,
              tick: toTick(log.args.tick),
            },
          },
        ]
      case 'Mint':
      case 'Burn': {
        const { tickLower, tickUpper, amount, amount0, amount1 } = log.args
        const ticks = { tickLower: toTick(tickLower), tickUpper: toTick(tickUpper) }
        const kind = log.eventName === 'Mint' ? 'MINT' : 'BURN'
        return [{ at, event: { kind, ...ticks, liquidity: amount, amount0, amount1 } }]
      }
      case 'Swap': {
        const { amount0, amount1, sqrtPriceX96, liquidity, tick } = log.args
        return [
          { at, event: { kind: 'SWAP', amount0, amount1, sqrtPriceX96, liquidity, tick: toTick(tick) } },
        ]
      }
      case 'Collect':
        return []
    }
  })
const inOrder = (events: { readonly at: number; readonly event: AlgebraEvent }[]): AlgebraEvent[] =>
  events.sort((a, b) => a.at - b.at).map(({ event }) => event)

const FAMILIES: readonly Contracts[] = [
  {
    name: 'amm_v3_pancake',
    tiers: [
      { feePpm: 100, tickSpacing: 1 },
      { feePpm: 500, tickSpacing: 10 },
      { feePpm: 2500, tickSpacing: 50 },
      { feePpm: 10_000, tickSpacing: 200 },
    ],
    create: (pair, feePpm) => createPancakePool(client, pancakes, pair, feePpm),
    // Shares of the fee, of 10,000: no amount of a swap may change by them.
    async charge(pool, feePpm) {
      const from = await client.readContract({
        address: pancakes.factory,
        abi: v3FactoryAbi,
        functionName: 'owner',
      })
      const args = [pool, feePpm === 500 ? 0 : 3200, feePpm === 500 ? 1000 : 4000] as const
      const data = encodeFunctionData({ abi: pancakePoolAbi, functionName: 'setFeeProtocol', args })
      await send(client, { from, to: pancakes.factory, data })
    },
    born: ({ feePpm, tickSpacing }) => ({
      family: 'amm_v3_pancake',
      feePpm: BigInt(feePpm),
      tickSpacing: toTick(tickSpacing),
    }),
    mint: trader.mintV3,
    events: logs =>
      inOrder([
        ...slotEvents(logs),
        ...parseEventLogs({ abi: pancakePoolAbi, logs, eventName: 'Swap' }).map(log => {
          const { amount0, amount1, sqrtPriceX96, liquidity, tick } = log.args
          const slot = { sqrtPriceX96, liquidity, tick: toTick(tick) }
          return { at: log.logIndex, event: { kind: 'SWAP', amount0, amount1, ...slot } as const }
        }),
      ]),
    async state(address) {
      const read = { address, abi: v3PoolAbi } as const
      const slot = await client.readContract({
        address,
        abi: parseAbi([
          'function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint32, bool)',
        ]),
        functionName: 'slot0',
      })
      const liquidity = await client.readContract({ ...read, functionName: 'liquidity' })
      return { family: 'amm_v3_pancake', sqrtPriceX96: slot[0], tick: toTick(slot[1]), liquidity }
    },
    async quote({ kind, tokenIn, tokenOut, amount, feePpm }) {
      const call = { address: quoters.pancake, abi: pancakeQuoterAbi, gas: GAS } as const
      const asked = { tokenIn, tokenOut, amount, fee: feePpm, sqrtPriceLimitX96: 0n }
      const { result } =
        kind === 'EXACT_IN'
          ? await client.simulateContract({
              ...call,
              functionName: 'quoteExactInputSingle',
              args: [{ ...asked, amountIn: amount }],
            })
          : await client.simulateContract({ ...call, functionName: 'quoteExactOutputSingle', args: [asked] })
      return { amount: result[0], feePpm: null }
    },
  },
  {
    name: 'amm_algebra_v1',
    tiers: [{ feePpm: 100, tickSpacing: 60 }],
    create: pair => createAlgebraPool(client, algebras, pair),
    charge: async () => {},
    born: ({ tickSpacing }) => ({ family: 'amm_algebra_v1', tickSpacing: toTick(tickSpacing) }),
    mint: trader.mintAlgebra,
    events: logs =>
      inOrder([
        ...slotEvents(logs),
        ...parseEventLogs({ abi: algebraPoolAbi, logs, eventName: 'Fee' }).map(log => ({
          at: log.logIndex,
          event: { kind: 'FEE', feePpm: count(log.args.fee) } as const,
        })),
      ]),
    async state(address) {
      const read = { address, abi: algebraPoolAbi } as const
      const global = await client.readContract({ ...read, functionName: 'globalState' })
      const liquidity = await client.readContract({ ...read, functionName: 'liquidity' })
      const [sqrtPriceX96, tick, fee] = global
      done.fees.add(BigInt(fee))
      return {
        family: 'amm_algebra_v1',
        sqrtPriceX96,
        tick: toTick(tick),
        liquidity,
        feePpm: BigInt(fee),
      }
    },
    async quote({ kind, tokenIn, tokenOut, amount }) {
      const { result } = await client.simulateContract({
        address: quoters.algebra,
        abi: algebraQuoterAbi,
        functionName: kind === 'EXACT_IN' ? 'quoteExactInputSingle' : 'quoteExactOutputSingle',
        args: [tokenIn, tokenOut, amount, 0n],
        gas: GAS,
      })
      return { amount: result[0], feePpm: BigInt(result[1]) }
    },
  },
]

const SUBJECTS = FAMILIES.flatMap(of =>
  // A pair has one Algebra pool: as many pairs as others have tiers.
  (of.tiers.length === 1 ? [0, 1, 2, 3].map(() => of.tiers[0]) : of.tiers).map((tier, at) => ({
    of,
    tier: tier as (typeof of.tiers)[number],
    at,
    name: `${of.name} ${at}`,
  })),
)

describe.each(SUBJECTS)('R-ticks-1, R-ticks-2: $name', ({ of, tier, name }) => {
  it('swaps as simulated, its events give its state, and its depth is what it takes in', async () => {
    const random = new Random(seed, name)
    const subject = await createSubject(random, of, tier)
    for (let round = 0; round < ROUNDS; round++) {
      const steps: Step[] = []
      if (round === 0) for (let i = 0; i < FIRST_MINTS; i++) steps.push(mintStep(random, subject, i === 0))
      for (let i = 0; i < SWAPS_PER_ROUND; i++) {
        if (random.chance(1, 4)) steps.push(mintStep(random, subject))
        if (random.chance(1, 6)) steps.push(burnStep(random, subject))
        steps.push(swapStep(random, subject))
      }
      await run(subject, steps)
      await compareStorage(subject)
      await compareDepths(subject, [TWO_PERCENT, random.pick(LADDER)])
      for (let i = 0; i < QUOTES_PER_ROUND; i++) await compareQuote(random, subject)
      // So that volatility has time to move a fee.
      await client.increaseTime({ seconds: random.integer(1, 40_000) })
    }
  })
})

it('had enough cases, and the fee of Algebra moved', () => {
  for (const { name } of FAMILIES) {
    const subjects = SUBJECTS.filter(({ of }) => of.name === name)
    expect(done.swaps.get(name)).toBeGreaterThanOrEqual(subjects.length * ROUNDS * SWAPS_PER_ROUND * 0.6)
  }
  expect(done.depths).toBeGreaterThanOrEqual(SUBJECTS.length * ROUNDS * 2)
  expect(done.fees.size).toBeGreaterThan(3)
  const swaps = [...done.swaps].map(([name, times]) => `${times} swaps of ${name}`).join(', ')
  for (const { name } of FAMILIES)
    expect(done.quotes.get(name)).toBeGreaterThanOrEqual(ROUNDS * QUOTES_PER_ROUND)
  const quotes = [...done.quotes].map(([name, times]) => `${times} quotes of ${name}`).join(', ')
  console.log(`${quotes}, ${swaps}, ${done.depths} depths, ${done.fees.size} fees of Algebra`)
})

type Step = { readonly call: Hex; readonly asked: Asked | null }
type Asked = { readonly side: Side; readonly order: swapLoop.Order; readonly limitX96: bigint | null }

async function createSubject(
  random: Random,
  of: Contracts,
  tier: { readonly feePpm: number; readonly tickSpacing: number },
): Promise<Subject> {
  const pair = [await token(), await token()] as const
  await trader.fund(client, hands, pair)
  const pool = await of.create(pair, tier.feePpm)
  const start = random.magnitude(MIN_SQRT_RATIO * 1000n, MAX_SQRT_RATIO / 1000n)
  const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args: [start] })
  const receipt = await send(client, { to: pool, data })
  await of.charge(pool, tier.feePpm)
  const born = of.born(tier)
  const adapter = adapterOf(born.family)
  const spacing = tier.tickSpacing
  const subject: Subject = {
    of,
    pool,
    pair: BigInt(pair[0]) < BigInt(pair[1]) ? pair : [pair[1], pair[0]],
    feePpm: tier.feePpm,
    adapter,
    terms: adapter.terms(born, null),
    spacing,
    state: adapter.empty(born),
    positions: new Map(),
  }
  for (const event of of.events(receipt.logs)) apply(subject, event)
  return subject
}

/** One transaction; each Swap is foreseen from the state its own events have led to. */
async function run(subject: Subject, steps: readonly Step[]): Promise<void> {
  const outcomes = await trader.batch(
    client,
    hands,
    steps.map(({ call }) => call),
    GAS,
  )
  steps.forEach(({ asked }, at) => {
    const outcome = outcomes[at]
    if (outcome?.ok !== true) {
      // A limit that the price has passed meanwhile. Positions fail at the ends of the range, where they cost too much.
      if (asked !== null) expect(outcome?.ok === false ? outcome.reason : 'nothing').toBe('SPL')
      return
    }
    const own = outcome.logs.filter(log => log.address.toLowerCase() === subject.pool.toLowerCase())
    for (const event of subject.of.events(own)) {
      if (event.kind === 'SWAP' && asked !== null) {
        const { side, order, limitX96 } = asked
        const slot = subject.state as AmmState & Slot
        const foreseen = swapLoop.swap(pricingOf(subject), slot, side, order, limitX96 ?? extremeOf(side))
        expect(event, `${order.kind} at step ${at}`).toEqual({ kind: 'SWAP', ...foreseen })
        add(done.swaps, subject.of.name)
      }
      apply(subject, event)
    }
  })
}

function apply(subject: Subject, event: AlgebraEvent): void {
  const { adapter, terms, state } = subject
  const applied = adapter.apply(terms, state, state, event)
  expectVerified(applied, event.kind)
  subject.state = applied.state
}

const pricingOf = ({ adapter, terms, state }: Subject): swapLoop.Pricing => ({
  book: bookOf({ adapter, terms }),
  feePpm: adapter.feeNow?.(state, 0) ?? adapter.feePpm(adapter.born(terms)),
})
const bookOf = ({ adapter, terms }: Pick<Subject, 'adapter' | 'terms'>): TickBook =>
  adapter.book(terms) as TickBook

async function compareStorage(subject: Subject): Promise<void> {
  const { of, pool, positions } = subject
  expect(subject.state).toEqual(await of.state(pool))
  const touched = [...new Set([...positions.values()].flatMap(({ lower, upper }) => [lower, upper]))]
  const ticks = await Promise.all(
    touched.map(tick =>
      client.readContract({ address: pool, abi: v3PoolAbi, functionName: 'ticks', args: [tick] }),
    ),
  )
  const stored = storedTicks(
    touched.map((tick, at) => ({ tick, gross: ticks[at]?.[0] ?? 0n, net: ticks[at]?.[1] ?? 0n })),
  )
  expect(bookOf(subject).entries()).toEqual(stored)
}

/** The contract is given more than it can take and the limit; what it takes must be the depth. */
async function compareDepths(subject: Subject, boundaries: readonly Boundary[]): Promise<void> {
  const { adapter, terms, state, pool } = subject
  const price = (state as AmmState & Slot).sqrtPriceX96
  const questions = depthQuestions(price, boundaries, (x, boundary) => {
    const depth = adapter.depth(terms, state, x, boundary)
    return 'reason' in depth ? expect.unreachable('the whole book is known') : depth
  })
  const movable = questions.filter(({ limitX96 }) => limitX96 !== price)
  // At the end of the range there is nowhere to go.
  for (const { depth, limitX96 } of questions) if (limitX96 === price) expect(depth).toBe(0n)
  const probes = await trader.probe(
    client,
    hands,
    movable.map(({ side, limitX96 }) => trader.swapV3(pool, side === 0, INT256_MAX, limitX96)),
    GAS,
  )
  for (const [at, { side, depth }] of movable.entries()) {
    const probe = probes[at]
    if (probe?.ok !== true) return expect.unreachable(`the probe failed with ${probe?.reason}`)
    expect(decodeFunctionResult({ abi: swapResultAbi, data: probe.result })[side]).toBe(depth)
    done.depths++
  }
}

/** The quoter refuses what the pool cannot take, or give, in whole. */
async function compareQuote(random: Random, subject: Subject): Promise<void> {
  const { of, adapter, terms, pair, feePpm } = subject
  const slot = subject.state as AmmState & Slot
  const side = drawSide(random, slot)
  const other: Side = side === 0 ? 1 : 0
  const kind = random.pick(['EXACT_IN', 'EXACT_OUT'] as const)
  const amount = random.magnitude(1n, reserve(slot, kind === 'EXACT_IN' ? side : other) / 50n + 2n)
  const question = { kind, amount, tokenIn: pair[side], tokenOut: pair[other], feePpm }
  if (kind === 'EXACT_IN') {
    const ours = adapter.swapExactIn(terms, slot, side, amount)
    if ('reason' in ours) return expect.unreachable('the whole book is known')
    if (ours.amountIn !== amount || ours.amountOut === 0n) return
    const said = await of.quote(question)
    const now = adapter.swapExactIn(terms, atFee(slot, said.feePpm), side, amount)
    expect('reason' in now ? null : now.amountOut).toBe(said.amount)
  } else {
    const ours = adapter.smallestInput(terms, slot, side, amount)
    if (typeof ours !== 'bigint') return
    const said = await of.quote(question)
    const state = atFee(slot, said.feePpm)
    const swap = swapLoop.swap(
      pricingOf({ ...subject, state }),
      state,
      side,
      { kind, amount },
      extremeOf(side),
    )
    if ('reason' in swap) return expect.unreachable('the whole book is known')
    expect(side === 0 ? swap.amount0 : swap.amount1).toBe(said.amount)
    // A unit less is never enough; the same output may be had for less than the quoter's way of asking.
    expect(adapter.smallestInput(terms, state, side, amount)).toBeLessThanOrEqual(said.amount)
  }
  add(done.quotes, of.name)
}

/** The first swap of a second may move the fee of Algebra: the quoter says which fee it was quoted at. */
const atFee = <S extends AmmState>(state: S, feePpm: bigint | null): S =>
  feePpm === null ? state : { ...state, feePpm }

const swapResultAbi = parseAbi(['function swapV3() returns (int256, int256)'])

/** The first lies under everything: no swap runs out of liquidity. */
function mintStep(random: Random, { of, pool, spacing, state, positions }: Subject, isFirst = false): Step {
  const { tick } = state as AmmState & Slot
  const [lower, upper] = isFirst ? rangeOf(spacing, [-Infinity, Infinity]) : drawRange(random, tick, spacing)
  const liquidity = isFirst ? 1n << 80n : random.magnitude(1n << 20n, 1n << 90n)
  const key = `${lower} ${upper}`
  const before = positions.get(key)?.liquidity ?? 0n
  positions.set(key, { lower, upper, liquidity: before + liquidity })
  return { call: of.mint(pool, lower, upper, liquidity), asked: null }
}

function burnStep(random: Random, subject: Subject): Step {
  const { pool, positions } = subject
  const held = [...positions.entries()].slice(1).filter(([, { liquidity }]) => liquidity > 0n)
  // Mints may all have gone into the first position, which stays.
  if (held.length === 0) return mintStep(random, subject)
  const [key, position] = random.pick(held)
  const burnt = random.bigint(1n, position.liquidity)
  positions.set(key, { ...position, liquidity: position.liquidity - burnt })
  return { call: trader.burnV3(pool, position.lower, position.upper, burnt), asked: null }
}

function swapStep(random: Random, subject: Subject): Step {
  const slot = subject.state as AmmState & Slot
  // Back from the ends of the range, where hardly anything trades.
  const isFar = Math.abs(slot.tick) > FAR_TICK
  const side: Side = isFar ? (slot.tick > 0 ? 0 : 1) : random.pick([0, 1] as const)
  const limitX96 = random.chance(1, 5)
    ? drawLimit(random, slot, bookOf(subject), subject.spacing, side)
    : null
  const isUnlimited = limitX96 !== null && random.chance(1, 2)
  const scale = reserve({ ...slot, liquidity: slot.liquidity > 0n ? slot.liquidity : 1n << 60n }, side)
  const kind = random.pick(['EXACT_IN', 'EXACT_IN', 'EXACT_OUT'] as const)
  const order: swapLoop.Order = isUnlimited
    ? swapLoop.TO_LIMIT
    : { kind, amount: random.magnitude(1n, scale) }
  return {
    call: trader.swapV3(subject.pool, side === 0, specified(order), limitX96 ?? 0n),
    asked: { side, order, limitX96 },
  }
}

const token = (): Promise<Address> => deployToken(client, { symbol: 'T', decimals: 18 })
