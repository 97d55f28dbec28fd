/**
 * The v4 adapter against the published PoolManager and V4Quoter, on random states.
 *
 * Every pool has two twins. The forecast is advanced by our own simulation before the chain is asked; the
 * mirror is advanced by the manager's logs alone. After each round both must be what the manager's storage
 * says, to the unit.
 */
import {
  type Anvil,
  type Client,
  connect,
  deployToken,
  deployTrader,
  deployV4Manager,
  initialiseV4Pool,
  Random,
  setV4ProtocolFee,
  startAnvil,
  trader,
  v4Key,
  v4ManagerAbi,
  type V4Pool,
} from '@assay/world'
import {
  type Address,
  decodeFunctionResult,
  encodeAbiParameters,
  encodePacked,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbi,
  parseAbiParameters,
  toHex,
  type TransactionReceipt,
  zeroAddress,
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
  reserve,
  specified,
  type Start,
  STARTS,
  storedTicks,
  TIERS_IN_USE,
  TWO_PERCENT,
} from '../../testing/tickDraws.ts'
import { deployV4Quoter, quotedBy, UNBORN, v4EventsOf, v4TermsOf } from '../../testing/v4Contracts.ts'
import { expectVerified } from '../../testing/verified.ts'
import { tick as toTick } from '../../units.ts'
import type { Boundary } from '../adapter.ts'
import type { Side } from '../states.ts'
import * as sqrtPriceMath from '../sqrtPriceMath.ts'
import * as swapLoop from '../swapLoop.ts'
import type { V4Event, V4State, V4Terms } from './kind.ts'
import { swapFeeOf } from './swapFee.ts'
import { v4 } from './v4.ts'

/** The usual pairs of fee and spacing, and odd ones: no fee, all of the input, the widest spacing there is. */
const TIERS = [
  ...TIERS_IN_USE,
  { feePpm: 0, tickSpacing: 3 },
  { feePpm: 999_999, tickSpacing: 111 },
  { feePpm: 1_000_000, tickSpacing: 60 },
  { feePpm: 1_234, tickSpacing: 32_767 },
] as const

const ROUNDS = Number(process.env['ASSAY_V4_ROUNDS'] ?? 3)
const SWAPS_PER_ROUND = 24
const CHANGES_PER_ROUND = 8
const FIRST_POSITIONS = 6
const NEAR_POSITIONS = 24
const NEAR_TICKS = 600
const QUOTES_PER_ROUND = 2

const GAS = 100_000_000_000n
const WHOLE_FEE = 1_000_000n
const INT128_MAX = (1n << 127n) - 1n
const MOST_AMOUNT = INT128_MAX >> 16n
const REDRAWS = 16
const SAFE_CAST_OVERFLOW = '0x93dafdf1'
const NATIVE_WEI = 1n << 200n

type Twin = { readonly terms: V4Terms; state: V4State }
type Position = { readonly lower: number; readonly upper: number; readonly delta: bigint }
type Subject = {
  readonly pool: V4Pool
  readonly forecast: Twin
  readonly mirror: Twin
  readonly positions: Map<string, Position>
}
type Step = {
  readonly call: Hex
  /** Null: the contract must refuse it. */
  readonly expected: V4Event | null
}

const seed = printedSeed()
const done = { swaps: 0, depths: 0, inputs: 0, quotes: 0, refusals: 0 }
let anvil: Anvil
let client: Client
let hands: Address
let manager: Address
let quoter: Address
/** One pair a start; the first has the native currency. */
let pairs: readonly (readonly [Address, Address])[] = []

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: 10n * GAS })
  client = connect(anvil.url)
  hands = await deployTrader(client)
  await client.setBalance({ address: hands, value: NATIVE_WEI })
  manager = await deployV4Manager(client)
  quoter = await deployV4Quoter(client, manager)
  const tokens: Address[] = []
  for (let i = 0; i < 2 * STARTS.length; i++)
    tokens.push(await deployToken(client, { symbol: 'T', decimals: 18 }))
  await trader.fund(client, hands, tokens)
  pairs = STARTS.map((_, i) => [
    i === 0 ? zeroAddress : (tokens[2 * i] as Address),
    tokens[2 * i + 1] as Address,
  ])
})

afterAll(() => anvil.close())

it('is deployed at its mainnet address', () => {
  expect(manager).toBe('0x000000000004444c5dc75cB358380D2e3dE08A90')
})

describe.each(TIERS)('R-ticks-1, R-ticks-2: a v4 pool of fee $feePpm and spacing $tickSpacing', tier => {
  it.each(STARTS.map((start, index) => ({ start, index })))(
    'swaps as simulated, and its logs give its state, from a price $start',
    async ({ start, index }) => {
      const random = new Random(seed, `v4 ${tier.feePpm} ${tier.tickSpacing} ${start}`)
      const subject = await createSubject(random, tier, start, index)
      const first = Array.from({ length: FIRST_POSITIONS }, () => drawAddition(random, subject))
      const near = Array.from({ length: NEAR_POSITIONS }, () =>
        addition(random, subject, nearRange(random, subject.forecast)),
      )
      await runRound(subject, [...first, ...near])
      for (let round = 0; round < ROUNDS; round++) {
        if (random.chance(1, 2)) await changeProtocolFee(random, subject)
        const changes = Array.from({ length: CHANGES_PER_ROUND }, () => random.integer(0, SWAPS_PER_ROUND))
        const steps: Step[] = []
        for (let i = 0; i < SWAPS_PER_ROUND; i++) {
          for (const at of changes) if (at === i) steps.push(drawChange(random, subject))
          steps.push(drawSwap(random, subject))
        }
        await runRound(subject, steps)
        await compareWithStorage(subject)
        await compareDepths(subject, [TWO_PERCENT, random.pick(LADDER)])
        await compareSmallestInputs(random, subject)
        await compareQuotes(random, subject)
      }
    },
  )
})

it('the random cases above were many enough to count', () => {
  expect(done.swaps).toBeGreaterThanOrEqual(ROUNDS * 600)
  expect(done.depths).toBeGreaterThanOrEqual(ROUNDS * 60)
  expect(done.inputs).toBeGreaterThanOrEqual(ROUNDS * 20)
  expect(done.quotes).toBeGreaterThanOrEqual(ROUNDS * 40)
  if (process.env['ASSAY_V4_ROUNDS'] !== undefined) console.info(done)
})

// ---- the round

/** Sends the steps in one transaction, holds each against its expectation, and feeds the mirror. */
async function runRound(subject: Subject, steps: readonly Step[]): Promise<void> {
  const outcomes = await trader.batch(
    client,
    hands,
    steps.map(({ call }) => call),
    GAS,
  )
  steps.forEach(({ expected }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return expect.unreachable(`step ${index} has no outcome`)
    if (!outcome.ok) {
      expect(expected, `step ${index} failed with ${outcome.reason}`).toBeNull()
      done.refusals++
      return
    }
    const events = eventsOf(subject.pool, outcome.logs)
    expect(events, `step ${index}`).toEqual([expected])
    for (const event of events) {
      applyTo(subject.mirror, event, `step ${index}`)
      if (event.kind === 'SWAP') done.swaps++
    }
  })
  expect(subject.mirror.state).toEqual(subject.forecast.state)
}

function applyTo(twin: Twin, event: V4Event, where: string): void {
  const applied = v4.apply(twin.terms, twin.state, twin.state, event)
  expectVerified(applied, `${where}: ${event.kind}`)
  twin.state = applied.state
}

/** The manager's own words, by `extsload`: slot 6 maps a pool's id to what it holds. */
async function compareWithStorage({ pool, mirror, forecast, positions }: Subject): Promise<void> {
  const ticks = [...new Set([...positions.values()].flatMap(({ lower, upper }) => [lower, upper]))]
  const base = BigInt(keccak256(encodePacked(['bytes32', 'uint256'], [pool.id, 6n])))
  const word = (slot: bigint): Hex => toHex(slot, { size: 32 })
  const slots = [
    word(base),
    word(base + 3n),
    ...ticks.map(tick =>
      keccak256(encodeAbiParameters(parseAbiParameters('int256, uint256'), [BigInt(tick), base + 4n])),
    ),
  ]
  const [slot0 = '0x', liquidity = '0x', ...infos] = await client.readContract({
    address: manager,
    abi: v4ManagerAbi,
    functionName: 'extsload',
    args: [slots],
  })
  const bits = BigInt(slot0)
  expect(mirror.state).toEqual({
    family: 'amm_v4',
    sqrtPriceX96: BigInt.asUintN(160, bits),
    tick: Number(BigInt.asIntN(24, bits >> 160n)),
    protocolFee: BigInt.asUintN(24, bits >> 184n),
    lpFeePpm: BigInt.asUintN(24, bits >> 208n),
    liquidity: BigInt(liquidity),
  })
  const stored = storedTicks(
    ticks.map((tick, i) => {
      const info = BigInt(infos[i] ?? 0n)
      return { tick, gross: BigInt.asUintN(128, info), net: BigInt.asIntN(128, info >> 128n) }
    }),
  )
  expect(mirror.terms.book.entries()).toEqual(stored)
  expect(forecast.terms.book.entries()).toEqual(stored)
}

// ---- depth, inputs and quotes

/** The manager is given more than it can take and the limit; what it takes must be the depth. */
async function compareDepths({ pool, mirror }: Subject, boundaries: readonly Boundary[]): Promise<void> {
  const { terms, state } = mirror
  const cases = depthQuestions(state.sqrtPriceX96, boundaries, (x, boundary) => {
    const depth = v4.depth(terms, state, x, boundary)
    return 'reason' in depth ? expect.unreachable('the whole book is known') : depth
  })
  // A pool that takes all of what goes in one way is shut: it has no depth, whatever the manager takes the other way.
  const isShut = ([0, 1] as const).some(
    side => swapFeeOf(state.protocolFee, state.lpFeePpm, side) === WHOLE_FEE,
  )
  if (isShut) {
    expect(cases.map(({ depth }) => depth)).toEqual(cases.map(() => 0n))
    return
  }
  const movable = cases.filter(({ side, limitX96 }) =>
    side === 0 ? limitX96 < state.sqrtPriceX96 : limitX96 > state.sqrtPriceX96,
  )
  const calls = movable.map(({ side, limitX96 }) =>
    trader.swapV4(manager, pool.key, side === 0, INT256_MAX, limitX96),
  )
  const probes = await trader.probe(client, hands, calls, GAS)
  for (const [i, { side, depth }] of movable.entries()) {
    const probe = probes[i]
    // No amount of a swap has more than int128 says: the manager does not go as far.
    if (probe?.ok !== true) {
      expect(probe?.reason).toBe(SAFE_CAST_OVERFLOW)
      continue
    }
    expect(depth).toBe(amountsOf(probe.result)[side])
    if (depth > 0n) done.depths++
  }
}

/** The manager must give the output for our input and not for one unit less. */
async function compareSmallestInputs(random: Random, { pool, mirror }: Subject): Promise<void> {
  const { terms, state } = mirror
  // Each way twice: some pools have nothing to give one way, and are asked for nothing.
  for (const side of [0, 1, 0, 1] as const) {
    if (!canMove(state, side)) continue
    const available = v4.swapExactIn(terms, state, side, reserve(state, side))
    if ('reason' in available) return expect.unreachable('the whole book is known')
    if (available.amountOut === 0n || available.amountOut > INT128_MAX) continue
    const output = random.magnitude(1n, available.amountOut)
    const input = v4.smallestInput(terms, state, side, output)
    if (typeof input !== 'bigint') return expect.unreachable('there is that much')
    const amounts = input > 1n ? [input, input - 1n] : [input]
    const calls = amounts.map(amount => trader.swapV4(manager, pool.key, side === 0, amount))
    const [enough, less] = await trader.probe(client, hands, calls, GAS)
    const outputOf = (probe: trader.Probe): bigint =>
      probe.ok ? -amountsOf(probe.result)[side === 0 ? 1 : 0] : expect.unreachable(probe.reason)
    if (enough?.ok !== true) {
      expect(enough?.reason).toBe(SAFE_CAST_OVERFLOW)
      continue
    }
    expect(outputOf(enough)).toBeGreaterThanOrEqual(output)
    if (less !== undefined) expect(outputOf(less)).toBeLessThan(output)
    done.inputs++
  }
}

async function compareQuotes(random: Random, { pool, mirror: { terms, state } }: Subject): Promise<void> {
  for (let i = 0; i < QUOTES_PER_ROUND; i++) {
    const side = random.pick([0, 1] as const)
    const exactAmount = random.magnitude(1n, reserve(state, side) / 50n + 2n)
    if (!canMove(state, side) || exactAmount > INT128_MAX) continue
    const ours = v4.swapExactIn(terms, state, side, exactAmount)
    if ('reason' in ours) return expect.unreachable('the whole book is known')
    // The quoter refuses what the pool cannot take in whole, and outputs that int128 cannot say.
    if (ours.amountIn !== exactAmount || ours.amountOut > INT128_MAX) continue
    const asked = { kind: 'EXACT_IN', amount: exactAmount } as const
    expect(ours.amountOut).toBe(await quotedBy(client, quoter, pool, side, asked, GAS))
    done.quotes++
  }
}

const swapResultAbi = parseAbi(['function swapV4() returns (int256, int256)'])
const amountsOf = (data: Hex): readonly [bigint, bigint] => decodeFunctionResult({ abi: swapResultAbi, data })

// ---- random steps

function drawSwap(random: Random, subject: Subject): Step {
  for (let i = 0; i < REDRAWS; i++) {
    const step = tryDraw(random, subject)
    if (step !== null) return step
  }
  const side: Side = canMove(subject.forecast.state, 0) ? 0 : 1
  return swapStep(subject, side, { kind: 'EXACT_IN', amount: 1n }, null) ?? expect.unreachable('one unit')
}

function tryDraw(random: Random, subject: Subject): Step | null {
  const { state } = subject.forecast
  const { book, tickSpacing } = subject.forecast.terms
  const side = drawSide(random, state)
  const limitX96 = random.chance(1, 2) ? drawLimit(random, state, book, tickSpacing, side) : null
  const feePpm = swapFeeOf(state.protocolFee, state.lpFeePpm, side)
  const isUnlimited = limitX96 !== null && feePpm < WHOLE_FEE && random.chance(1, 4)
  const order = isUnlimited ? swapLoop.TO_LIMIT : drawOrder(random, state, side, INT128_MAX)
  return swapStep(subject, side, order, limitX96)
}

/** Null for a swap that is too large to be one of many. */
function swapStep(
  { forecast, pool }: Subject,
  side: Side,
  order: swapLoop.Order,
  limitX96: bigint | null,
): Step | null {
  const { terms, state } = forecast
  const feePpm = swapFeeOf(state.protocolFee, state.lpFeePpm, side)
  const call = trader.swapV4(pool.manager, pool.key, side === 0, specified(order), limitX96 ?? 0n)
  if (feePpm === WHOLE_FEE && order.kind !== 'EXACT_IN') return { call, expected: null }
  const swap = swapLoop.swap({ book: terms.book, feePpm }, state, side, order, limitX96 ?? extremeOf(side))
  if ('reason' in swap) return expect.unreachable('the whole book is known')
  const amounts = [swap.amount0, swap.amount1].map(each => (each < 0n ? -each : each))
  // Amounts of a v4 pool have 127 bits and a sign, and so have the fees that all swaps left to a position.
  if (amounts.some(each => each > INT128_MAX)) return { call, expected: null }
  if (amounts.some(each => each > MOST_AMOUNT)) return null
  const { sqrtPriceX96, tick, liquidity } = swap
  forecast.state = { ...state, sqrtPriceX96, tick, liquidity }
  return { call, expected: { kind: 'SWAP', ...swap, feePpm } }
}

function drawChange(random: Random, subject: Subject): Step {
  const held = [...subject.positions.values()].filter(({ delta }) => delta > 0n)
  if (held.length === 0 || random.chance(3, 5)) return drawAddition(random, subject)
  const { lower, upper, delta } = random.pick(held)
  if (random.chance(1, 6)) {
    const call = trader.modifyV4(manager, subject.pool.key, lower, upper, -delta - 1n)
    return { call, expected: null }
  }
  return change(subject, { lower, upper, delta: -random.pick([delta, random.bigint(0n, delta), 0n]) })
}

const drawAddition = (random: Random, subject: Subject): Step =>
  addition(random, subject, rangeIn(random, subject.forecast))

function addition(random: Random, subject: Subject, [lower, upper]: readonly [number, number]): Step {
  // More than int128 of either currency is none that the manager takes.
  const [cost0, cost1] = costOf(subject.forecast.state, { lower, upper, delta: 1n << 90n })
  const cost = cost0 > cost1 ? cost0 : cost1
  const most = ((INT128_MAX / 1024n) << 90n) / (cost + 1n) + 2n
  const largest = most < 1n << 90n ? most : 1n << 90n
  const delta = random.pick([
    () => random.magnitude(1n, largest < 10n ? largest : 10n),
    () => random.magnitude(1n, largest),
    () => random.magnitude(largest / 1024n + 1n, largest),
  ])()
  return change(subject, { lower, upper, delta })
}

function change({ pool, forecast, positions }: Subject, position: Position): Step {
  const { lower, upper, delta } = position
  const call = trader.modifyV4(manager, pool.key, lower, upper, delta)
  const { state, verdict } = v4.apply(forecast.terms, forecast.state, forecast.state, modification(position))
  if (verdict !== 'verified') return expect.unreachable(`${lower} ${upper} ${delta}`)
  forecast.state = state
  const key = `${lower} ${upper}`
  positions.set(key, { lower, upper, delta: (positions.get(key)?.delta ?? 0n) + delta })
  return { call, expected: modification(position) }
}

function costOf({ sqrtPriceX96 }: V4State, { lower, upper, delta }: Position): readonly [bigint, bigint] {
  const [low, high] = [priceAt(lower), priceAt(upper)]
  const inside = sqrtPriceX96 < low ? low : sqrtPriceX96 > high ? high : sqrtPriceX96
  return [sqrtPriceMath.amount0Up(inside, high, delta), sqrtPriceMath.amount1Up(low, inside, delta)]
}

const modification = ({ lower, upper, delta }: Position): V4Event => ({
  kind: 'MODIFY',
  tickLower: toTick(lower),
  tickUpper: toTick(upper),
  liquidityDelta: delta,
})

const rangeIn = (random: Random, { terms, state }: Twin) => drawRange(random, state.tick, terms.tickSpacing)

const nearRange = (random: Random, { terms, state }: Twin) =>
  drawRangeWithin(random, state.tick, terms.tickSpacing, NEAR_TICKS)

// ---- pools

async function createSubject(
  random: Random,
  { feePpm, tickSpacing }: (typeof TIERS)[number],
  start: Start,
  index: number,
): Promise<Subject> {
  const key = v4Key(pairs[index] as readonly [Address, Address], feePpm, tickSpacing)
  const { pool, receipt } = await initialiseV4Pool(client, manager, key, drawStart(random, start))
  const twins = [newTwin(feePpm, tickSpacing), newTwin(feePpm, tickSpacing)] as const
  for (const event of eventsOf(pool, receipt.logs)) for (const twin of twins) applyTo(twin, event, 'start')
  return { pool, forecast: twins[0], mirror: twins[1], positions: new Map() }
}

const newTwin = (feePpm: number, tickSpacing: number): Twin => ({
  terms: v4TermsOf(feePpm, tickSpacing),
  state: UNBORN,
})

async function changeProtocolFee(random: Random, subject: Subject): Promise<void> {
  const [a, b] = [random.pick([0, 1, 500, 1000]), random.pick([0, 7, 999, 1000])]
  const { logs } = await setV4ProtocolFee(client, subject.pool, a, b)
  for (const event of eventsOf(subject.pool, logs)) {
    expect(event.kind).toBe('PROTOCOL_FEE')
    for (const twin of [subject.forecast, subject.mirror]) applyTo(twin, event, 'protocol fee')
  }
}

/** The manager logs nothing else in a round. */
function eventsOf(pool: V4Pool, logs: TransactionReceipt['logs']): V4Event[] {
  const events = v4EventsOf(pool, logs)
  expect(logs.filter(({ address }) => isAddressEqual(address, manager))).toHaveLength(events.length)
  return events
}
