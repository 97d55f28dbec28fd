/**
 * The v3 adapter against the published pool contract, on random states.
 *
 * Every pool has two twins. The forecast is advanced by our own simulation before the chain is asked; the
 * mirror is advanced by the pool's events alone. After each round both must be what the contract's storage
 * says, to the unit.
 */
import type { Boundary } from '../adapter.ts'
import type { Side } from '../states.ts'
import type { V3Event, V3State, V3Terms } from './kind.ts'
import { adapterOf } from '../families.ts'
import {
  type Anvil,
  type Client,
  connect,
  createV3Pool,
  deployToken,
  deployTrader,
  deployV3Factory,
  enableFeeAmount,
  initialiseV3Pool,
  Random,
  send,
  startAnvil,
  trader,
  type V3Pool,
  v3FactoryAbi,
  v3PoolAbi,
} from '@assay/world'
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printedSeed } from '../../testing/printedSeed.ts'
import {
  canMove,
  depthQuestions,
  drawLimit,
  drawOrder,
  drawRange,
  drawRangeWithin,
  drawSide,
  drawStart,
  extremeOf,
  INT256_MAX,
  LADDER,
  priceAt,
  rangeOf,
  reserve,
  specified,
  type Start,
  STARTS,
  storedTicks,
  TIERS_IN_USE,
  TWO_PERCENT,
} from '../../testing/tickDraws.ts'
import { expectVerified } from '../../testing/verified.ts'
import { tick as toTick } from '../../units.ts'
import * as swapLoop from '../swapLoop.ts'
import * as tickBook from '../tickBook.ts'

const v3 = adapterOf('amm_v3')

/** Its words reach from the highest price to one: a swap can cross that in a single step. */
const WIDEST_TIER = { feePpm: 25_000, tickSpacing: 16_383 } as const

/** The four tiers in use, and odd ones: no fee, a fee that takes nearly all, the widest spacing there is. */
const TIERS = [
  ...TIERS_IN_USE,
  { feePpm: 1_234, tickSpacing: 7 },
  { feePpm: 0, tickSpacing: 3 },
  { feePpm: 999_999, tickSpacing: 111 },
  WIDEST_TIER,
] as const
const BUILT_IN_FEES: readonly number[] = [500, 3000, 10_000]

const ROUNDS = 3
const SWAPS_PER_ROUND = 24
/** Mints, burns and failures between the swaps of a round. */
const OTHERS_PER_ROUND = 12
const FIRST_MINTS = 6

/** Where many ticks lie inside 2%: there depth is looked up, not walked. */
const CROWDED_TIERS = TIERS.filter(({ tickSpacing }) => tickSpacing <= 60)
const CROWD = 60
const CROWD_ROUNDS = 6
const CROWD_STEPS = 5
const NEAR_TICKS = 600

const LEAST_SWAPS = 2_000
const LEAST_DEPTHS = 300

const LONG_SWAPS = 30

const GAS = 100_000_000_000n
const PPM = 1_000_000n
const UINT256_MAX = (1n << 256n) - 1n

type Twin = { readonly terms: V3Terms; state: V3State }

type Position = { readonly lower: number; readonly upper: number; readonly liquidity: bigint }

type Subject = {
  readonly pool: V3Pool
  readonly maxLiquidityPerTick: bigint
  readonly forecast: Twin
  readonly mirror: Twin
  readonly positions: Map<string, Position>
}

type Step = {
  readonly call: Hex
  readonly expected:
    | { readonly kind: 'SWAP'; readonly swap: swapLoop.Swap }
    | { readonly kind: 'MINT' | 'BURN'; readonly position: Position }
    | { readonly kind: 'FAILURE'; readonly reason: string }
}

const seed = printedSeed()
const done = { swaps: 0, depths: 0, inputs: 0, events: 0 }
let anvil: Anvil
let client: Client
let hands: Address
let factory: Address
const pairs: (readonly [Address, Address])[] = []

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: 10n * GAS })
  client = connect(anvil.url)
  hands = await deployTrader(client)
  factory = await deployV3Factory(client)
  for (const { feePpm, tickSpacing } of TIERS) {
    if (!BUILT_IN_FEES.includes(feePpm)) await enableFeeAmount(client, factory, feePpm, tickSpacing)
  }
  // One pair of tokens for each start and one for the crowds, so that every pool has its own key.
  for (let i = 0; i <= STARTS.length; i++) {
    const pair = [await token(), await token()] as const
    await trader.fund(client, hands, pair)
    pairs.push(pair)
  }
})

afterAll(() => anvil.close())

describe.each(TIERS)('R-ticks-1, R-ticks-2: a v3 pool of fee $feePpm and spacing $tickSpacing', tier => {
  it.each(STARTS.map((start, index) => ({ start, index })))(
    'swaps as simulated, and its events give its state, from a price $start',
    async ({ start, index }) => {
      const random = new Random(seed, `${tier.feePpm} ${start}`)
      const subject = await createSubject(random, tier, start, index)
      for (let round = 0; round < ROUNDS; round++) {
        const others = Array.from({ length: OTHERS_PER_ROUND }, () => random.integer(0, SWAPS_PER_ROUND))
        const steps: Step[] = []
        if (round === 0) for (let i = 0; i < FIRST_MINTS; i++) steps.push(drawMint(random, subject))
        for (let i = 0; i < SWAPS_PER_ROUND; i++) {
          for (const at of others) if (at === i) steps.push(drawOther(random, subject))
          steps.push(drawSwap(random, subject))
        }
        await runRound(subject, steps)
        await compareWithStorage(subject)
        await compareDepths(subject, [TWO_PERCENT, random.pick(LADDER)])
        await compareSmallestInputs(random, subject)
      }
    },
  )
})

describe.each(CROWDED_TIERS)('R-ticks-5: a crowded v3 pool of fee $feePpm and spacing $tickSpacing', tier => {
  it('takes in, up to a price limit, exactly its computed depth', async () => {
    const random = new Random(seed, `crowd ${tier.feePpm}`)
    const subject = await createSubject(random, tier, 'near one', STARTS.length)
    const crowd = Array.from({ length: CROWD }, () =>
      drawMint(random, subject, drawNearRange(random, subject.forecast)),
    )
    await runRound(subject, crowd)
    for (let round = 0; round < CROWD_ROUNDS; round++) {
      await compareDepths(subject, [TWO_PERCENT, ...LADDER])
      const steps = Array.from({ length: CROWD_STEPS }, () =>
        random.pick([
          () => drawSmallSwap(random, subject),
          () => drawBurn(random, subject),
          () => drawMint(random, subject, drawNearRange(random, subject.forecast)),
        ])(),
      )
      await runRound(subject, steps)
      await compareWithStorage(subject)
    }
  })
})

describe('a v3 pool whose steps are so long that amount times price exceeds 256 bits', () => {
  it('rounds as we do, on both sides of the overflow', async () => {
    const random = new Random(seed, 'overflow')
    const subject = await createSubject(random, WIDEST_TIER, 'near the highest', STARTS.length)
    const { forecast, maxLiquidityPerTick } = subject
    const everywhere = rangeOf(WIDEST_TIER.tickSpacing, [-Infinity, Infinity])
    const top = priceAt(everywhere[1])
    const belowTop = () => top - random.magnitude(1n, top / 16n)
    const steps = [mintStep(subject, everywhere, random.magnitude(1n << 110n, maxLiquidityPerTick))]
    steps.push(swapStep(subject, 0, swapLoop.TO_LIMIT, belowTop()))
    for (let i = 0; i < LONG_SWAPS; i++) {
      const lastBefore = UINT256_MAX / forecast.state.sqrtPriceX96
      const trading = random.pick([
        () => lastBefore - random.bigint(0n, 1n),
        () => lastBefore + 1n,
        () => random.magnitude(lastBefore, forecast.state.liquidity),
      ])()
      const kept = PPM - BigInt(WIDEST_TIER.feePpm)
      const amount = (trading * PPM + kept - 1n) / kept
      steps.push(swapStep(subject, 0, { kind: 'EXACT_IN', amount }, null))
      steps.push(swapStep(subject, 1, swapLoop.TO_LIMIT, belowTop()))
    }
    await runRound(subject, steps)
    await compareWithStorage(subject)
  })
})

it('the random cases above were many enough to count', () => {
  expect(done.swaps).toBeGreaterThanOrEqual(LEAST_SWAPS)
  expect(done.depths).toBeGreaterThanOrEqual(LEAST_DEPTHS)
})

// ---- the round

/** Sends the steps in one transaction, holds each against its expectation, and feeds the mirror. */
async function runRound(subject: Subject, steps: readonly Step[]): Promise<void> {
  const calls = steps.map(step => step.call)
  const outcomes = await trader.batch(client, hands, calls, GAS)
  steps.forEach(({ expected }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return expect.unreachable(`step ${index} has no outcome`)
    if (!outcome.ok) {
      expect(expected, `step ${index} failed with ${outcome.reason}`).toMatchObject({ kind: 'FAILURE' })
      if (expected.kind === 'FAILURE') expect(outcome.reason).toBe(expected.reason)
      return
    }
    const events = eventsOf(subject.pool, outcome.logs)
    expect(events, `step ${index}`).toHaveLength(1)
    for (const event of events) {
      expect(event.kind).toBe(expected.kind)
      if (expected.kind === 'SWAP') {
        expect(event, `swap at step ${index}`).toEqual({ kind: 'SWAP', ...expected.swap })
        done.swaps++
      }
      applyToMirror(subject.mirror, event, `step ${index}`)
    }
  })
  expect(subject.mirror.state).toEqual(subject.forecast.state)
}

function applyToMirror(mirror: Twin, event: V3Event, where: string): void {
  const applied = v3.apply(mirror.terms, mirror.state, mirror.state, event)
  expectVerified(applied, `${where}: ${event.kind}`)
  mirror.state = applied.state
  done.events++
}

async function compareWithStorage({ pool, mirror, forecast, positions }: Subject): Promise<void> {
  const read = { address: pool.address, abi: v3PoolAbi } as const
  const touched = [...new Set([...positions.values()].flatMap(({ lower, upper }) => [lower, upper]))]
  const [slot, liquidity, ...ticks] = await Promise.all([
    client.readContract({ ...read, functionName: 'slot0' }),
    client.readContract({ ...read, functionName: 'liquidity' }),
    ...touched.map(tick => client.readContract({ ...read, functionName: 'ticks', args: [tick] })),
  ])
  expect(mirror.state).toEqual({ family: 'amm_v3', sqrtPriceX96: slot[0], tick: slot[1], liquidity })
  const stored = storedTicks(
    touched.map((tick, index) => ({ tick, gross: ticks[index]?.[0] ?? 0n, net: ticks[index]?.[1] ?? 0n })),
  )
  expect(mirror.terms.book.entries()).toEqual(stored)
  expect(forecast.terms.book.entries()).toEqual(stored)
}

// ---- depth

/** The contract is given more than it can take and the limit; what it takes must be the depth. */
async function compareDepths({ pool, mirror }: Subject, boundaries: readonly Boundary[]): Promise<void> {
  const price = mirror.state.sqrtPriceX96
  const cases = depthQuestions(price, boundaries, (x, boundary) => {
    const depth = v3.depth(mirror.terms, mirror.state, x, boundary)
    return 'reason' in depth ? expect.unreachable('the whole book is known') : depth
  })
  const movable = cases.filter(({ limitX96 }) => limitX96 !== price)
  for (const { depth, limitX96 } of cases) if (limitX96 === price) expect(depth).toBe(0n)
  const calls = movable.map(({ side, limitX96 }) =>
    trader.swapV3(pool.address, side === 0, INT256_MAX, limitX96),
  )
  const amounts = (await trader.probe(client, hands, calls, GAS)).map(amountsOf)
  const consumed = movable.map(({ side, limitX96 }, index) => ({
    side,
    limitX96,
    depth: amounts[index]?.[side],
  }))
  expect(movable).toEqual(consumed)
  done.depths += movable.filter(({ depth }) => depth > 0n).length
}

/** The contract must give the output for our input and not for one unit less. */
async function compareSmallestInputs(random: Random, { pool, mirror }: Subject): Promise<void> {
  for (const side of [0, 1] as const) {
    const available = v3.swapExactIn(mirror.terms, mirror.state, side, reserve(mirror.state, side))
    if ('reason' in available) return expect.unreachable('the whole book is known')
    const output = random.magnitude(1n, available.amountOut + 1n)
    const input = v3.smallestInput(mirror.terms, mirror.state, side, output)
    if (!canMove(mirror.state, side)) {
      expect(input).toBeNull()
      continue
    }
    if (input === null || typeof input !== 'bigint') {
      expect(input).toBeNull()
      const [most] = await swapsOf(pool, side, [-output])
      expect(most?.output).toBeLessThan(output)
      continue
    }
    const [enough, less] = await swapsOf(pool, side, input === 1n ? [1n] : [input, input - 1n])
    expect(enough?.output).toBeGreaterThanOrEqual(output)
    if (less !== undefined) expect(less.output).toBeLessThan(output)
    done.inputs++
  }
}

async function swapsOf(pool: V3Pool, side: Side, amounts: readonly bigint[]): Promise<{ output: bigint }[]> {
  const calls = amounts.map(amount => trader.swapV3(pool.address, side === 0, amount))
  return (await trader.probe(client, hands, calls, GAS)).map(probe => ({
    output: -amountsOf(probe)[side === 0 ? 1 : 0],
  }))
}

function amountsOf(probe: trader.Probe): readonly [bigint, bigint] {
  if (!probe.ok) return expect.unreachable(`the probe failed with ${probe.reason}`)
  return decodeFunctionResult({ abi: swapResultAbi, data: probe.result })
}

const swapResultAbi = parseAbi(['function swapV3() returns (int256, int256)'])

// ---- random steps

function drawOther(random: Random, subject: Subject): Step {
  if (random.chance(1, 8)) return drawFailure(random, subject)
  return subject.positions.size > 0 && random.chance(2, 5)
    ? drawBurn(random, subject)
    : drawMint(random, subject)
}

function drawSwap(random: Random, subject: Subject): Step {
  const { state } = subject.forecast
  const { book, tickSpacing } = subject.forecast.terms
  const side = drawSide(random, state)
  const limitX96 = random.chance(1, 2) ? null : drawLimit(random, state, book, tickSpacing, side)
  const isUnlimited = limitX96 !== null && random.chance(1, 4)
  const order = isUnlimited ? swapLoop.TO_LIMIT : drawOrder(random, state, side, INT256_MAX)
  return swapStep(subject, side, order, limitX96)
}

/** Moves the price by less than 2%, so that it stays in its crowd. */
function drawSmallSwap(random: Random, subject: Subject): Step {
  const { state } = subject.forecast
  const side = random.pick([0, 1] as const)
  const part = random.bigint(1n, 8n) * (side === 0 ? -1n : 1n)
  const amount = random.bigint(1n, reserve(state, side))
  return swapStep(subject, side, { kind: 'EXACT_IN', amount }, (state.sqrtPriceX96 * (1000n + part)) / 1000n)
}

function swapStep(
  { pool, forecast }: Subject,
  side: Side,
  order: swapLoop.Order,
  limitX96: bigint | null,
): Step {
  const swap = foresee(forecast, side, order, limitX96)
  const { sqrtPriceX96, tick, liquidity } = swap
  forecast.state = { family: 'amm_v3', sqrtPriceX96, tick, liquidity }
  return {
    call: trader.swapV3(pool.address, side === 0, specified(order), limitX96 ?? 0n),
    expected: { kind: 'SWAP', swap },
  }
}

/** Through the adapter where the adapter offers it, else through the loop under it. */
function foresee(
  { terms, state }: Twin,
  side: Side,
  order: swapLoop.Order,
  limitX96: bigint | null,
): swapLoop.Swap {
  if (order.kind === 'EXACT_IN' && limitX96 === null) {
    const result = v3.swapExactIn(terms, state, side, order.amount)
    if ('reason' in result) return expect.unreachable('the whole book is known')
    const { sqrtPriceX96, tick, liquidity } = result.state
    const [amount0, amount1] =
      side === 0 ? [result.amountIn, -result.amountOut] : [-result.amountOut, result.amountIn]
    return { amount0, amount1, sqrtPriceX96, tick, liquidity }
  }
  const result = swapLoop.swap(terms, state, side, order, limitX96 ?? extremeOf(side))
  return 'reason' in result ? expect.unreachable('the whole book is known') : result
}

function drawMint(
  random: Random,
  subject: Subject,
  range: readonly [number, number] = rangeIn(random, subject.forecast),
): Step {
  const { forecast, maxLiquidityPerTick, pool } = subject
  const grosses = forecast.terms.book.entries().map(({ tick, gross }) => [tick, gross] as const)
  const fullest = grosses.filter(([tick]) => range.includes(tick)).reduce((a, [, b]) => (a > b ? a : b), 0n)
  const room = maxLiquidityPerTick - fullest
  if (room === 0n) return failure(trader.mintV3(pool.address, ...range, 1n), 'LO')
  const drawn = random.pick([
    () => random.bigint(1n, 10n),
    () => random.magnitude(1n, 1n << 64n),
    () => random.magnitude(1n << 50n, 1n << 90n),
    () => random.magnitude(1n, room),
    () => room,
  ])()
  return mintStep(subject, range, drawn < room ? drawn : room)
}

function mintStep(subject: Subject, [lower, upper]: readonly [number, number], liquidity: bigint): Step {
  const position = { lower, upper, liquidity }
  changeLiquidity(subject, position, 1n)
  return {
    call: trader.mintV3(subject.pool.address, lower, upper, liquidity),
    expected: { kind: 'MINT', position },
  }
}

/** All of a position, a part of it, or nothing, which only pokes it. */
function drawBurn(random: Random, subject: Subject): Step {
  const held = [...subject.positions.values()].filter(position => position.liquidity > 0n)
  if (held.length === 0) return drawMint(random, subject)
  const { lower, upper, liquidity } = random.pick(held)
  const burnt = random.pick([() => liquidity, () => random.bigint(0n, liquidity), () => 0n])()
  const position = { lower, upper, liquidity: burnt }
  changeLiquidity(subject, position, -1n)
  return {
    call: trader.burnV3(subject.pool.address, lower, upper, burnt),
    expected: { kind: 'BURN', position },
  }
}

function drawFailure(random: Random, { pool, forecast, maxLiquidityPerTick }: Subject): Step {
  const price = forecast.state.sqrtPriceX96
  const spacing = pool.tickSpacing
  return random.pick([
    () => failure(trader.swapV3(pool.address, true, 1n, price), 'SPL'),
    () => failure(trader.swapV3(pool.address, false, -1n, price - 1n), 'SPL'),
    () => failure(trader.swapV3(pool.address, true, 0n), 'AS'),
    () => failure(trader.mintV3(pool.address, spacing, spacing, 1n), 'TLU'),
    () => failure(trader.burnV3(pool.address, -spacing, spacing, maxLiquidityPerTick + 1n), 'LS'),
  ])()
}

const failure = (call: Hex, reason: string): Step => ({ call, expected: { kind: 'FAILURE', reason } })

const rangeIn = (random: Random, { terms, state }: Twin) => drawRange(random, state.tick, terms.tickSpacing)

/** Closer than the 2% that depth looks at. */
const drawNearRange = (random: Random, { terms, state }: Twin) =>
  drawRangeWithin(random, state.tick, terms.tickSpacing, NEAR_TICKS)

// ---- pools

async function createSubject(
  random: Random,
  { feePpm, tickSpacing }: (typeof TIERS)[number],
  start: Start,
  index: number,
): Promise<Subject> {
  const pool = await createV3Pool(client, factory, pairs[index] as readonly [Address, Address], feePpm)
  const receipt = await initialiseV3Pool(client, pool, drawStart(random, start))
  // The protocol's share comes out of the fee: no amount of a swap may change by it.
  if (random.chance(1, 3)) await setFeeProtocol(pool)
  const maxLiquidityPerTick = await client.readContract({
    address: pool.address,
    abi: v3PoolAbi,
    functionName: 'maxLiquidityPerTick',
  })
  const twins = [newTwin(feePpm, tickSpacing), newTwin(feePpm, tickSpacing)] as const
  for (const event of eventsOf(pool, receipt.logs))
    for (const twin of twins) applyToMirror(twin, event, 'start')
  return { pool, maxLiquidityPerTick, forecast: twins[0], mirror: twins[1], positions: new Map() }
}

function newTwin(feePpm: number, tickSpacing: number): Twin {
  const spacing = toTick(tickSpacing)
  return {
    terms: {
      family: 'amm_v3',
      feePpm: BigInt(feePpm),
      tickSpacing: spacing,
      book: tickBook.fromLoaded(spacing, null),
    },
    state: { family: 'amm_v3', sqrtPriceX96: 0n, tick: toTick(0), liquidity: 0n },
  }
}

async function setFeeProtocol(pool: V3Pool): Promise<void> {
  const from = await client.readContract({ address: factory, abi: v3FactoryAbi, functionName: 'owner' })
  const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'setFeeProtocol', args: [4, 10] })
  await send(client, { from, to: pool.address, data })
}

/** What the contract does to its ticks and its liquidity, for the forecast. */
function changeLiquidity({ forecast, positions }: Subject, position: Position, sign: 1n | -1n): void {
  const { lower, upper } = position
  const delta = sign * position.liquidity
  const key = `${lower} ${upper}`
  positions.set(key, { lower, upper, liquidity: (positions.get(key)?.liquidity ?? 0n) + delta })
  forecast.terms.book.change({ lower: toTick(lower), upper: toTick(upper), delta })
  const { state } = forecast
  const isInside = state.tick >= lower && state.tick < upper
  if (isInside) forecast.state = { ...state, liquidity: state.liquidity + delta }
}

function eventsOf(pool: V3Pool, logs: TransactionReceipt['logs']): V3Event[] {
  const own = logs.filter(log => log.address.toLowerCase() === pool.address.toLowerCase())
  return parseEventLogs({ abi: v3PoolAbi, logs: own }).flatMap((log): V3Event[] => {
    switch (log.eventName) {
      case 'Initialize':
        return [{ kind: 'INITIALIZE', sqrtPriceX96: log.args.sqrtPriceX96, tick: toTick(log.args.tick) }]
      case 'Mint':
      case 'Burn': {
        const { tickLower, tickUpper, amount, amount0, amount1 } = log.args
        const ticks = { tickLower: toTick(tickLower), tickUpper: toTick(tickUpper) }
        return [
          { kind: log.eventName === 'Mint' ? 'MINT' : 'BURN', ...ticks, liquidity: amount, amount0, amount1 },
        ]
      }
      case 'Swap': {
        const { amount0, amount1, sqrtPriceX96, liquidity, tick } = log.args
        return [{ kind: 'SWAP', amount0, amount1, sqrtPriceX96, liquidity, tick: toTick(tick) }]
      }
      case 'Collect':
        return []
    }
  })
}

const token = (): Promise<Address> => deployToken(client, { symbol: 'T', decimals: 18 })
