/**
 * The v2 adapter against published pair contracts, on random reserves.
 *
 * Every pair has two twins. The forecast is advanced by our own simulation before the chain is asked; the
 * mirror is advanced by the pair's events alone. After each round both must be what the contract's storage
 * says. An output is right when the pair gives it and refuses one unit more.
 */
import type { Boundary } from '../adapter.ts'
import type { Side } from '../states.ts'
import type { V2Event, V2State, V2Terms } from './kind.ts'
import { v2 } from './v2.ts'
import {
  type Anvil,
  type Client,
  connect,
  createV2Pair,
  deployToken,
  deployTrader,
  deployV2Factory,
  Random,
  startAnvil,
  trader,
  uniswapV2Code,
  type V2Code,
  type V2Factory,
  type V2Pair,
  v2PairAbi,
} from '@assay/world'
import {
  type Address,
  decodeFunctionResult,
  type Hex,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fraction } from '../../exact/fraction.ts'
import { printedSeed } from '../../testing/printedSeed.ts'
import { expectVerified } from '../../testing/verified.ts'

/** `fee` is taken of `of` parts of an input. */
type Market = { readonly fee: number; readonly of: number; readonly code: V2Code }

/** As published: 3 of 1000. Forks are this code with other numbers in it; 5 of 2000 is what Pancake v2 takes. */
const PUBLISHED = { fee: 3, of: 1000 } as const
const FORKS = [
  { fee: 5, of: 2000 },
  { fee: 2, of: 1000 },
  { fee: 0, of: 1000 },
  { fee: 1, of: 4000 },
  { fee: 10, of: 1000 },
  { fee: 100, of: 1000 },
] as const
const MARKETS: readonly Market[] = [PUBLISHED, ...FORKS].map(fee => ({ ...fee, code: codeOf(fee) }))

const STARTS = ['small', 'ordinary', 'lopsided', 'the other way lopsided', 'close to full'] as const
const ROUNDS = 4
const STEPS_PER_ROUND = 150
const LEAST_SWAPS = 5_000
const LEAST_DEPTHS = 500

const GAS = 10_000_000_000n
const MAX_RESERVE = (1n << 112n) - 1n
/** Shares the pair locks at its first mint. */
const MINIMUM_LIQUIDITY = 1_000n

const BOUNDARIES: readonly Boundary[] = [
  { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } },
  { up: { num: 101n, den: 100n }, down: { num: 99n, den: 100n } },
  { up: { num: 105n, den: 100n }, down: { num: 95n, den: 100n } },
  { up: { num: 110n, den: 100n }, down: { num: 90n, den: 100n } },
  { up: { num: 121n, den: 100n }, down: { num: 81n, den: 100n } },
  { up: { num: 50n, den: 1n }, down: { num: 1n, den: 50n } },
]

/** `prior` is the state before the last event. */
type Twin = { readonly terms: V2Terms; state: V2State; prior: V2State }

type Subject = {
  readonly market: Market
  readonly pair: V2Pair
  readonly forecast: Twin
  readonly mirror: Twin
  /** The pair's shares, as its own rules make them. */
  supply: bigint
}

/** `fails` is the pair's reason without its prefix, null where the call must succeed. */
type Step = { readonly call: Hex; readonly fails: string | null }

const seed = printedSeed()
const done = { swaps: 0, depths: 0 }
let anvil: Anvil
let client: Client
let hands: Address

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: 10n * GAS })
  client = connect(anvil.url)
  hands = await deployTrader(client)
})

afterAll(() => anvil.close())

describe.each(MARKETS)('R-product-1, R-product-2: a pair with a fee of $fee/$of', market => {
  it.each(STARTS)('swaps as simulated, and its events give its reserves, when they are %s', start =>
    compareMarket(market, start),
  )
})

it('the random cases above were many enough to count', () => {
  expect(done.swaps).toBeGreaterThanOrEqual(LEAST_SWAPS)
  expect(done.depths).toBeGreaterThanOrEqual(LEAST_DEPTHS)
})

async function compareMarket(market: Market, start: (typeof STARTS)[number]): Promise<void> {
  const random = new Random(seed, `v2 ${market.fee}/${market.of} ${start}`)
  const subject = await createSubject(random, market, start)
  for (let round = 0; round < ROUNDS; round++) {
    const steps: Step[] = []
    while (steps.length < STEPS_PER_ROUND) steps.push(...drawSteps(random, subject))
    await runRound(subject, steps)
    await compareDepths(random, subject)
  }
}

// ---- the round

async function runRound(subject: Subject, steps: readonly Step[]): Promise<void> {
  const { pair, mirror, forecast } = subject
  const calls = steps.map(step => step.call)
  const outcomes = await trader.batch(client, hands, calls, GAS)
  steps.forEach(({ fails }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return expect.unreachable(`step ${index} has no outcome`)
    expect(outcome.ok ? null : outcome.reason, `step ${index}`).toBe(
      fails === null ? null : `UniswapV2: ${fails}`,
    )
    if (!outcome.ok) return
    for (const event of eventsOf(pair, outcome.logs)) {
      const applied = v2.apply(mirror.terms, mirror.state, mirror.prior, event)
      expectVerified(applied, `step ${index}: ${event.kind}`)
      mirror.prior = mirror.state
      mirror.state = applied.state
      if (event.kind === 'SWAP') done.swaps++
    }
  })
  const read = { address: pair.address, abi: v2PairAbi } as const
  const [[reserve0, reserve1], supply] = await Promise.all([
    client.readContract({ ...read, functionName: 'getReserves' }),
    client.readContract({ ...read, functionName: 'totalSupply' }),
  ])
  expect(mirror.state).toEqual({ family: 'amm_v2', reserve0, reserve1 })
  expect(forecast.state).toEqual(mirror.state)
  expect(subject.supply).toBe(supply)
}

// ---- depth

/** With the depth as input the pair's own reserves stay inside the boundary; with one unit more they do not. */
async function compareDepths(random: Random, { pair, mirror }: Subject): Promise<void> {
  const before = mirror.state
  const boundaries = [BOUNDARIES[0] as Boundary, random.pick(BOUNDARIES)]
  const cases = boundaries.flatMap(boundary =>
    ([0, 1] as const).flatMap(x => {
      const depth = v2.depth(mirror.terms, before, x, boundary)
      if ('reason' in depth) return expect.unreachable('a pair has no ticks to be incomplete')
      const y: Side = x === 0 ? 1 : 0
      return [
        { x, side: y, input: depth.up, bound: boundary.up },
        { x, side: x, input: depth.down, bound: boundary.down },
      ]
    }),
  )
  const calls = cases.flatMap(({ side, input }) =>
    [input, input + 1n].map(amount => callOf(mirror, pair, side, amount)),
  )
  const probes = await trader.probe(client, hands, calls, GAS)
  cases.forEach(({ x, side, input, bound }, index) => {
    const at = probes[2 * index]
    const past = probes[2 * index + 1]
    if (at === undefined || past === undefined) return expect.unreachable('a probe is missing')
    const what = `${input} of token ${side} for ${bound.num}/${bound.den} of token ${x}`
    expect(isInside(before, reservesOf(at), x, bound), what).toBe(true)
    if (input === MAX_RESERVE - sideOf(before, side)) {
      expect(past, what).toEqual({ ok: false, reason: 'UniswapV2: OVERFLOW' })
    } else expect(isInside(before, reservesOf(past), x, bound), `one more than ${what}`).toBe(false)
    done.depths++
  })
}

/** Sells `amount`; where nothing comes out for it the pair would refuse a swap, but counts what it was given. */
function callOf({ terms, state }: Twin, pair: V2Pair, side: Side, amount: bigint): Hex {
  const room = MAX_RESERVE - sideOf(state, side)
  const result = v2.swapExactIn(terms, state, side, amount < room ? amount : room)
  if ('reason' in result) return expect.unreachable('a pair has no ticks to be incomplete')
  if (result.amountOut > 0n) return sale(pair, side, amount, result.amountOut)
  return side === 0 ? trader.donateV2(pair.address, amount, 0n) : trader.donateV2(pair.address, 0n, amount)
}

function isInside(before: V2State, after: V2State, x: Side, bound: Fraction): boolean {
  const y: Side = x === 0 ? 1 : 0
  const was = sideOf(before, y) * sideOf(after, x) * bound.num
  const is = sideOf(after, y) * sideOf(before, x) * bound.den
  return bound.num > bound.den ? is <= was : is >= was
}

function reservesOf(probe: trader.Probe): V2State {
  if (!probe.ok) return expect.unreachable(`the probe failed with ${probe.reason}`)
  const [reserve0, reserve1] = decodeFunctionResult({ abi: reservesAbi, data: probe.result })
  return { family: 'amm_v2', reserve0, reserve1 }
}

const reservesAbi = parseAbi(['function reserves() returns (uint112, uint112)'])

// ---- random steps

function drawSteps(random: Random, subject: Subject): readonly Step[] {
  return random.pick([
    drawSale,
    drawSale,
    drawSale,
    drawPurchase,
    drawPurchase,
    drawGift,
    drawAdd,
    drawRemove,
    drawGenerous,
  ])(random, subject)
}

/** An exact input: the pair gives our output, and not one unit more. */
function drawSale(random: Random, { pair, forecast }: Subject): readonly Step[] {
  const { terms, state } = forecast
  const side = random.pick([0, 1] as const)
  const room = MAX_RESERVE - sideOf(state, side)
  const asked = random.pick([
    () => random.magnitude(1n, 4n * sideOf(state, side)),
    () => random.bigint(1n, sideOf(state, side) / 10n + 1n),
    () => random.magnitude(1n, 1n << 113n),
  ])()
  const result = v2.swapExactIn(terms, state, side, asked)
  if ('reason' in result) return expect.unreachable('a pair has no ticks to be incomplete')
  const { amountIn, amountOut } = result
  expect(amountIn).toBe(asked < room ? asked : room)
  if (amountIn === 0n) return []
  const reserveOut = sideOf(state, opposite(side))
  const tooMuch = {
    call: sale(pair, side, amountIn, amountOut + 1n),
    fails: amountOut + 1n >= reserveOut ? 'INSUFFICIENT_LIQUIDITY' : 'K',
  }
  if (amountOut === 0n) return [tooMuch]
  forecast.state = result.state
  return [tooMuch, { call: sale(pair, side, amountIn, amountOut), fails: null }]
}

/** An exact output: the pair gives it for our smallest input, and not for one unit less. */
function drawPurchase(random: Random, { pair, forecast }: Subject): readonly Step[] {
  const { terms, state } = forecast
  const side = random.pick([0, 1] as const)
  const reserveIn = sideOf(state, side)
  const reserveOut = sideOf(state, opposite(side))
  const output = random.pick([
    () => random.magnitude(1n, reserveOut),
    () => random.bigint(1n, reserveOut / 10n + 1n),
    () => random.bigint(1n, reserveOut),
  ])()
  const input = v2.smallestInput(terms, state, side, output)
  if (output >= reserveOut) {
    expect(input).toBeNull()
    return [{ call: sale(pair, side, 1n, output), fails: 'INSUFFICIENT_LIQUIDITY' }]
  }
  const room = MAX_RESERVE - reserveIn
  if (typeof input !== 'bigint') {
    expect(input).toBeNull()
    return room === 0n ? [] : [{ call: sale(pair, side, room, output), fails: 'K' }]
  }
  forecast.state = after(state, side, input, output)
  return [
    { call: sale(pair, side, input - 1n, output), fails: input === 1n ? 'INSUFFICIENT_INPUT_AMOUNT' : 'K' },
    { call: sale(pair, side, input, output), fails: null },
  ]
}

/** Both tokens go in and less than could comes out. */
function drawGenerous(random: Random, { pair, forecast }: Subject): readonly Step[] {
  const { terms, state } = forecast
  const input = random.bigint(1n, state.reserve0)
  const result = v2.swapExactIn(terms, state, 0, input)
  const extra = random.magnitude(1n, 1n << 20n)
  if ('reason' in result || result.amountIn < input || result.amountOut <= 1n) return []
  const out1 = result.amountOut - 1n
  if (state.reserve1 - out1 + extra > MAX_RESERVE) return []
  forecast.state = after(state, 0, input, out1 - extra)
  return [{ call: trader.swapV2(pair.address, { in0: input, in1: extra, out1 }), fails: null }]
}

/** Reserves that move without a trade: a Sync on its own. */
function drawGift(random: Random, { pair, forecast }: Subject): readonly Step[] {
  const { reserve0, reserve1 } = forecast.state
  const gift0 = least(random.magnitude(1n, reserve0), MAX_RESERVE - reserve0)
  const gift1 = least(random.magnitude(1n, reserve1), MAX_RESERVE - reserve1)
  if (reserve0 > MAX_RESERVE / 4n || reserve1 > MAX_RESERVE / 4n) return []
  forecast.state = { family: 'amm_v2', reserve0: reserve0 + gift0, reserve1: reserve1 + gift1 }
  return [{ call: trader.donateV2(pair.address, gift0, gift1), fails: null }]
}

function drawAdd(random: Random, subject: Subject): readonly Step[] {
  const { pair, forecast, supply } = subject
  const { reserve0, reserve1 } = forecast.state
  const share = random.bigint(1n, 200n)
  const amount0 = least((reserve0 * share) / 1000n + 1n, MAX_RESERVE - reserve0)
  const amount1 = least((reserve1 * share) / 1000n + 1n, MAX_RESERVE - reserve1)
  const minted = least((amount0 * supply) / reserve0, (amount1 * supply) / reserve1)
  const call = trader.addV2(pair.address, amount0, amount1)
  if (minted === 0n) return [{ call, fails: 'INSUFFICIENT_LIQUIDITY_MINTED' }]
  subject.supply += minted
  forecast.state = { family: 'amm_v2', reserve0: reserve0 + amount0, reserve1: reserve1 + amount1 }
  return [{ call, fails: null }]
}

function drawRemove(random: Random, subject: Subject): readonly Step[] {
  const { pair, forecast, supply } = subject
  const { reserve0, reserve1 } = forecast.state
  const held = supply - MINIMUM_LIQUIDITY
  if (held === 0n) return []
  const burnt = random.pick([() => random.bigint(1n, held / 4n + 1n), () => random.magnitude(1n, held)])()
  const amount0 = (burnt * reserve0) / supply
  const amount1 = (burnt * reserve1) / supply
  const call = trader.removeV2(pair.address, burnt)
  if (amount0 === 0n || amount1 === 0n) return [{ call, fails: 'INSUFFICIENT_LIQUIDITY_BURNED' }]
  subject.supply -= burnt
  forecast.state = { family: 'amm_v2', reserve0: reserve0 - amount0, reserve1: reserve1 - amount1 }
  return [{ call, fails: null }]
}

// ---- pairs

const factories = new Map<V2Code, V2Factory>()

async function createSubject(
  random: Random,
  market: Market,
  start: (typeof STARTS)[number],
): Promise<Subject> {
  const factory = factories.get(market.code) ?? (await deployV2Factory(client, 'anywhere', market.code))
  factories.set(market.code, factory)
  const tokens = [await token(), await token()] as const
  await trader.fund(client, hands, tokens)
  const pair = await createV2Pair(client, factory, tokens)
  const fee = { numerator: BigInt(market.of - market.fee), denominator: BigInt(market.of) }
  const [reserve0, reserve1] = drawStart(random, start)
  const empty: V2State = { family: 'amm_v2', reserve0: 0n, reserve1: 0n }
  const twin = (state: V2State): Twin => ({ terms: { family: 'amm_v2', fee }, state, prior: empty })
  const forecast = twin({ family: 'amm_v2', reserve0, reserve1 })
  const subject = { market, pair, forecast, mirror: twin(empty), supply: squareRootDown(reserve0 * reserve1) }
  await runRound(subject, [{ call: trader.addV2(pair.address, reserve0, reserve1), fails: null }])
  return subject
}

function drawStart(random: Random, start: (typeof STARTS)[number]): readonly [bigint, bigint] {
  const few = () => random.bigint(1n, 100n)
  const many = () => random.magnitude(1n << 40n, 1n << 111n)
  switch (start) {
    case 'small':
      return [random.bigint(1_001n, 5_000n), random.bigint(1_001n, 5_000n)]
    case 'ordinary':
      return [random.magnitude(1n << 20n, 1n << 90n), random.magnitude(1n << 20n, 1n << 90n)]
    case 'lopsided':
      return [few(), many()]
    case 'the other way lopsided':
      return [many(), few()]
    case 'close to full':
      return [MAX_RESERVE - random.magnitude(1n, 1n << 100n), random.magnitude(1n << 100n, MAX_RESERVE)]
  }
}

function eventsOf(pair: V2Pair, logs: TransactionReceipt['logs']): V2Event[] {
  const own = logs.filter(log => log.address.toLowerCase() === pair.address.toLowerCase())
  return parseEventLogs({ abi: v2PairAbi, logs: own }).map((log): V2Event => {
    switch (log.eventName) {
      case 'Sync':
        return { kind: 'SYNC', reserve0: log.args.reserve0, reserve1: log.args.reserve1 }
      case 'Mint':
        return { kind: 'MINT', amount0: log.args.amount0, amount1: log.args.amount1 }
      case 'Burn':
        return { kind: 'BURN', amount0: log.args.amount0, amount1: log.args.amount1 }
      case 'Swap': {
        const { amount0In, amount1In, amount0Out, amount1Out } = log.args
        return { kind: 'SWAP', amount0In, amount1In, amount0Out, amount1Out }
      }
    }
  })
}

function sale(pair: V2Pair, side: Side, input: bigint, output: bigint): Hex {
  const amounts = side === 0 ? { in0: input, out1: output } : { in1: input, out0: output }
  return trader.swapV2(pair.address, amounts)
}

function after({ reserve0, reserve1 }: V2State, side: Side, input: bigint, output: bigint): V2State {
  return side === 0
    ? { family: 'amm_v2', reserve0: reserve0 + input, reserve1: reserve1 - output }
    : { family: 'amm_v2', reserve0: reserve0 - output, reserve1: reserve1 + input }
}

function sideOf({ reserve0, reserve1 }: V2State, side: Side): bigint {
  return side === 0 ? reserve0 : reserve1
}

const opposite = (side: Side): Side => (side === 0 ? 1 : 0)

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** By bisection: what the pair's own square root gives. */
function squareRootDown(value: bigint): bigint {
  let low = 0n
  let high = value + 1n
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    if (middle * middle <= value) low = middle
    else high = middle
  }
  return low
}

/**
 * The published code with another fee: in `balance.mul(1000).sub(amountIn.mul(3))` and `mul(1000**2)` of the pair, which the
 * factory holds too. The numbers lie in the code as they were pushed, so they may not need more bytes than before.
 */
function codeOf({ fee, of }: Omit<Market, 'code'>): V2Code {
  const { factory, pair } = uniswapV2Code()
  const pushed = (value: number, bytes: number) => value.toString(16).padStart(2 * bytes, '0')
  const changed = (code: Hex): Hex => {
    const parts = (pattern: RegExp, times: number, text: string) => (from: string) => {
      expect(from.match(pattern)).toHaveLength(times)
      return from.replaceAll(pattern, text)
    }
    const whole = parts(/6103e8(?=63ffffffff)/g, 1, `61${pushed(of, 2)}`)
    const taken = parts(/6003(?=63ffffffff)/g, 2, `60${pushed(fee, 1)}`)
    const square = parts(/620f4240/g, 1, `62${pushed(of * of, 3)}`)
    return square(taken(whole(code))) as Hex
  }
  return { factory: changed(factory), pair: changed(pair) }
}

const token = (): Promise<Address> => deployToken(client, { symbol: 'T', decimals: 18 })
