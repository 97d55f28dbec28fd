/**
 * The 2% depth of a pool, against @uniswap/v3-sdk and against a binary search.
 *
 * One v3 pool with 500 initialised ticks side by side, at sixteen prices a swap could leave it at; one pass computes
 * the depth in both directions at each. The SDK's peer is `Pool.getOutputAmount` with an unlimited amount and our
 * price limit; it is asynchronous, so its `run` returns a promise and the harness awaits it.
 *
 * The SDK does not say what it took in. That our input is the same is checked by giving it that amount, which must
 * arrive at the limit, and one unit less, which must not.
 */
import type { Boundary } from '../packages/engine/amm/adapter.ts'
import type { Side } from '../packages/engine/amm/states.ts'
import { amountOut } from '../packages/engine/amm/v2/constantProduct.ts'
import type { V2State, V2Terms } from '../packages/engine/amm/v2/kind.ts'
import { v2 } from '../packages/engine/amm/v2/v2.ts'
import type { V3State, V3Terms } from '../packages/engine/amm/v3/kind.ts'
import { adapterOf } from '../packages/engine/amm/families.ts'
import { createRequire } from 'node:module'
import * as priceLimit from '../packages/engine/amm/priceLimit.ts'
import * as swapLoop from '../packages/engine/amm/swapLoop.ts'
import * as tickBook from '../packages/engine/amm/tickBook.ts'
import { sqrtRatioAtTick } from '../packages/engine/amm/tickMath.ts'
import { tick as toTick } from '../packages/engine/units.ts'
import type { Benchmark } from './benchmark.ts'

const v3 = adapterOf('amm_v3')

type Sdk = typeof import('@uniswap/v3-sdk')
type Pool = InstanceType<Sdk['Pool']>
type Jsbi = Sdk['TickMath']['MIN_SQRT_RATIO']
type SdkInput = Parameters<Pool['getOutputAmount']>[0]
type Token = SdkInput['currency']

/** The SDK's own dependencies, as the SDK resolves them. Its ESM build does not load in Node. */
const require = createRequire(import.meta.url)
const sdk = require('@uniswap/v3-sdk') as Sdk
const sdkRequire = createRequire(require.resolve('@uniswap/v3-sdk'))
const JSBI = sdkRequire('jsbi') as { BigInt(text: string): Jsbi }
const { Token, CurrencyAmount } = sdkRequire('@uniswap/sdk-core') as {
  Token: new (chainId: number, address: string, decimals: number) => Token
  CurrencyAmount: { fromRawAmount(token: Token, amount: string): SdkInput }
}

const TICKS = 500
export const STATES = 16
/** The SDK takes milliseconds per depth: two prices are enough for its clock. */
export const SDK_STATES = 2
const FEE = sdk.FeeAmount.LOWEST
const CENTRE = 76_012
export const TWO_PERCENT: Boundary = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }
const UNLIMITED = 1n << 250n

const random = generator(0xdee9n)
export const tokens = [1, 2].map(n => new Token(1, `0x${n.toString(16).padStart(40, '0')}`, 18)) as [
  Token,
  Token,
]

type Case = {
  readonly state: V3State
  readonly limits: readonly [bigint, bigint]
  readonly pool: Pool
  readonly inputs: readonly [SdkInput, SdkInput]
  readonly sdkLimits: readonly [Jsbi, Jsbi]
}

/** Shared with the rows of v4, whose pools have the same curve. */
export const terms = denseTerms()
export const provider = sdkTicks()
export const cases = denseCases()
const sdkCases = cases.slice(0, SDK_STATES)

const pair: V2Terms = { family: 'amm_v2', fee: { numerator: 997n, denominator: 1000n } }
const pairStates: readonly V2State[] = Array.from({ length: 64 }, () => ({
  family: 'amm_v2',
  reserve0: 10n ** 18n + random(10n ** 24n),
  reserve1: 10n ** 9n + random(10n ** 15n),
}))

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'v3 2% depth both ways, 500 ticks, live index',
    unit: 'depth',
    goal: { ratio: 1500, sense: 'at least' },
    ours: {
      name: 'prefix sums',
      operations: STATES,
      run: () => cases.map(({ state }) => v3.depth(terms, state, 0, TWO_PERCENT)),
    },
    peer: { name: '@uniswap/v3-sdk Pool', operations: SDK_STATES, run: sdkDepths },
    check: assertSameAsSdk,
  },
  {
    name: 'v3 walk without an index',
    unit: 'walk',
    goal: { ratio: 15, sense: 'at least' },
    ours: { name: 'swap loop', operations: STATES, run: () => cases.map(walkBothWays) },
    peer: { name: '@uniswap/v3-sdk Pool', operations: SDK_STATES, run: sdkDepths },
    check: assertSameAsSdk,
  },
  {
    name: 'v2 2% depth',
    unit: 'depth',
    goal: { ratio: 5, sense: 'at least' },
    ours: {
      name: 'closed form',
      operations: pairStates.length,
      run: () => pairStates.map(state => v2.depth(pair, state, 0, TWO_PERCENT)),
    },
    peer: { name: 'binary search', operations: pairStates.length, run: () => pairStates.map(searchBothWays) },
    check: assertSearchAgrees,
  },
]

async function sdkDepths(): Promise<unknown> {
  const results: unknown[] = []
  for (const { pool, inputs, sdkLimits } of sdkCases) {
    results.push(await pool.getOutputAmount(inputs[0], sdkLimits[0]))
    results.push(await pool.getOutputAmount(inputs[1], sdkLimits[1]))
  }
  return results
}

function walkBothWays({ state, limits }: Case): readonly [swapLoop.Swap, swapLoop.Swap] {
  return [walk(state, 0, limits[0]), walk(state, 1, limits[1])]
}

export function walk(state: V3State, side: Side, limit: bigint): swapLoop.Swap {
  const swap = swapLoop.swap(terms, state, side, swapLoop.TO_LIMIT, limit)
  if ('reason' in swap) throw new Error('the whole range is known')
  return swap
}

function searchBothWays({ reserve0, reserve1 }: V2State): { up: bigint; down: bigint } {
  return { up: search(reserve1, reserve0, 102n, 100n), down: search(reserve0, reserve1, 100n, 98n) }
}

/** The greatest input inside, by bisection from twice the input that the boundary alone would allow. */
function search(reserveIn: bigint, reserveOut: bigint, num: bigint, den: bigint): bigint {
  const isInside = (input: bigint): boolean => {
    const out = amountOut(pair.fee, reserveIn, reserveOut, input)
    return (reserveIn + input) * reserveOut * den <= num * reserveIn * (reserveOut - out)
  }
  let inside = 0n
  let outside = (2n * reserveIn * (num - den)) / den
  while (outside - inside > 1n) {
    const middle = (inside + outside) >> 1n
    if (isInside(middle)) inside = middle
    else outside = middle
  }
  return inside
}

function assertSearchAgrees(): void {
  for (const state of pairStates) {
    const ours = v2.depth(pair, state, 0, TWO_PERCENT)
    const { up, down } = searchBothWays(state)
    const isSame = !('reason' in ours) && ours.up === up && ours.down === down
    if (!isSame)
      throw new Error(`the closed form and the search differ for ${state.reserve0}, ${state.reserve1}`)
  }
}

/** No difference in units, in and out, at any price. */
async function assertSameAsSdk(): Promise<void> {
  for (const { state, limits, pool, sdkLimits } of cases) {
    const depth = v3.depth(terms, state, 0, TWO_PERCENT)
    if ('reason' in depth) throw new Error('the whole range is known')
    for (const side of [0, 1] as const) {
      const input = side === 0 ? depth.down : depth.up
      const swap = walk(state, side, limits[side])
      const walked = side === 0 ? swap.amount0 : swap.amount1
      const output = side === 0 ? -swap.amount1 : -swap.amount0
      const [arrived, after] = await pool.getOutputAmount(inputOf(side, input), sdkLimits[side])
      const [, short] = await pool.getOutputAmount(inputOf(side, input - 1n), sdkLimits[side])
      const limit = limits[side].toString()
      const isSame =
        input === walked &&
        after.sqrtRatioX96.toString() === limit &&
        short.sqrtRatioX96.toString() !== limit &&
        arrived.quotient.toString() === output.toString() &&
        after.tickCurrent === swap.tick
      if (!isSame) throw new Error(`the SDK does not take ${input} of token${side} to reach ${limit}`)
    }
  }
}

/** Nested positions, one starting and one ending at each of the neighbouring ticks. */
function denseTerms(): V3Terms {
  const book = tickBook.fromLoaded(toTick(1), null)
  for (let i = 1; i <= TICKS / 2; i++) {
    const delta = 10n ** 18n + random(10n ** 20n)
    book.change({ lower: toTick(CENTRE - i), upper: toTick(CENTRE + i), delta })
  }
  return { family: 'amm_v3', feePpm: BigInt(FEE), tickSpacing: toTick(1), book }
}

function sdkTicks() {
  const ticks = terms.book
    .entries()
    .map(
      ({ tick, gross, net }) =>
        new sdk.Tick({ index: tick, liquidityGross: gross.toString(), liquidityNet: net.toString() }),
    )
  return new sdk.TickListDataProvider(ticks, 1)
}

function denseCases(): readonly Case[] {
  return Array.from({ length: STATES }, (_, i): Case => {
    // Within 40 ticks of the middle, so that the boundary stays inside the positions.
    const tick = toTick(CENTRE - 40 + i * 5)
    const [low, high] = [sqrtRatioAtTick(tick), sqrtRatioAtTick(toTick(tick + 1))]
    const sqrtPriceX96 = low + random(high - low)
    const entries = terms.book.entries().filter(entry => entry.tick <= tick)
    const liquidity = entries.reduce((sum, entry) => sum + entry.net, 0n)
    const state: V3State = { family: 'amm_v3', sqrtPriceX96, tick, liquidity }
    const { below, above } = priceLimit.rootsOf(TWO_PERCENT, 0)
    const limits = [
      priceLimit.limitBelow(sqrtPriceX96, below),
      priceLimit.limitAbove(sqrtPriceX96, above),
    ] as const
    const price = sqrtPriceX96.toString()
    return {
      state,
      limits,
      pool: new sdk.Pool(tokens[0], tokens[1], FEE, price, liquidity.toString(), tick, provider),
      inputs: [inputOf(0, UNLIMITED), inputOf(1, UNLIMITED)],
      sdkLimits: [JSBI.BigInt(limits[0].toString()), JSBI.BigInt(limits[1].toString())],
    }
  })
}

export function inputOf(side: Side, amount: bigint): SdkInput {
  return CurrencyAmount.fromRawAmount(tokens[side], amount.toString())
}

/** A 64-bit linear congruential generator (Knuth's MMIX constants), stretched to the bound. */
function generator(seed: bigint): (below: bigint) => bigint {
  let state = seed
  return below => {
    let value = 0n
    for (let bits = 1n; bits <= below << 64n; bits <<= 64n) {
      state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
      value = (value << 64n) | state
    }
    return value % below
  }
}
