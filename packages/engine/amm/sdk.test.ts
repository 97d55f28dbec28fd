/**
 * Differential tests against @uniswap/v3-sdk, which is another team's port of the same contract.
 *
 * The SDK is loaded as CommonJS, because its ESM build imports directories and Node refuses those.
 */
import type { Side } from './states.ts'
import { createRequire } from 'node:module'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases, natural } from '../testing/cases.ts'
import { tick as toTick } from '../units.ts'
import * as priceLimit from './priceLimit.ts'
import * as sqrtPriceMath from './sqrtPriceMath.ts'
import * as swapLoop from './swapLoop.ts'
import * as swapMath from './swapMath.ts'
import { build, type BuiltPool, poolPlan } from '../testing/pools.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick, tickAtSqrtRatio } from './tickMath.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

type Sdk = typeof import('@uniswap/v3-sdk')
type Jsbi = Sdk['TickMath']['MIN_SQRT_RATIO']

const require = createRequire(import.meta.url)
const sdk = require('@uniswap/v3-sdk') as Sdk
const JSBI = createRequire(require.resolve('@uniswap/v3-sdk'))('jsbi') as { BigInt(text: string): Jsbi }

const jsbi = (value: bigint): Jsbi => JSBI.BigInt(value.toString())
const big = (value: Jsbi): bigint => BigInt(value.toString())

const side = fc.constantFrom<Side>(0, 1)
const liquidity = natural(128)
const fee = fc.oneof(fc.constantFrom(100n, 500n, 3000n, 10_000n), fc.bigInt({ min: 0n, max: 999_999n }))
/** Every length of price, and the ends. */
const price = fc.oneof(
  fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }).map(tick => sqrtRatioAtTick(toTick(tick))),
  natural(160).filter(value => value >= MIN_SQRT_RATIO && value < MAX_SQRT_RATIO),
  fc.bigInt({ min: MIN_SQRT_RATIO, max: MIN_SQRT_RATIO + 1000n }),
  fc.bigInt({ min: MAX_SQRT_RATIO - 1000n, max: MAX_SQRT_RATIO - 1n }),
)
/** Two prices from a hair to the whole range apart. */
const prices = fc
  .tuple(price, fc.oneof(price, natural(120)), fc.boolean())
  .map(([a, b, isOffset]) => (isOffset && a + b < MAX_SQRT_RATIO ? ([a, a + b] as const) : ([a, b] as const)))
  .filter(([, b]) => b >= MIN_SQRT_RATIO && b < MAX_SQRT_RATIO)

describe('against the SDK', () => {
  it('every tick has its price', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN_TICK, max: MAX_TICK }), tick => {
        expect(sqrtRatioAtTick(toTick(tick))).toBe(big(sdk.TickMath.getSqrtRatioAtTick(tick)))
      }),
      { numRuns: cases(4000) },
    )
  })

  it('every price has its tick', () => {
    fc.assert(
      fc.property(price, value => {
        expect(tickAtSqrtRatio(value)).toBe(sdk.TickMath.getTickAtSqrtRatio(jsbi(value)))
      }),
      { numRuns: cases(1500) },
    )
  })

  it('amounts between two prices agree, up and down', () => {
    fc.assert(
      fc.property(prices, liquidity, ([a, b], amount) => {
        const [lower, upper] = a < b ? [a, b] : [b, a]
        const [l, u, n] = [jsbi(lower), jsbi(upper), jsbi(amount)]
        const { SqrtPriceMath } = sdk
        expect(sqrtPriceMath.amount0Up(lower, upper, amount)).toBe(
          big(SqrtPriceMath.getAmount0Delta(l, u, n, true)),
        )
        expect(sqrtPriceMath.amount0Down(lower, upper, amount)).toBe(
          big(SqrtPriceMath.getAmount0Delta(l, u, n, false)),
        )
        expect(sqrtPriceMath.amount1Up(lower, upper, amount)).toBe(
          big(SqrtPriceMath.getAmount1Delta(l, u, n, true)),
        )
        expect(sqrtPriceMath.amount1Down(lower, upper, amount)).toBe(
          big(SqrtPriceMath.getAmount1Delta(l, u, n, false)),
        )
      }),
      { numRuns: cases(4000) },
    )
  })

  function expectAfterInput0(value: bigint, amount: bigint, input: bigint): void {
    const expected = sdk.SqrtPriceMath.getNextSqrtPriceFromInput(jsbi(value), jsbi(amount), jsbi(input), true)
    expect(sqrtPriceMath.afterInput0(value, amount, input)).toBe(big(expected))
  }

  it('the price after an input of token0 agrees, through both overflow branches', () => {
    let fallbacks = 0
    fc.assert(
      fc.property(price, liquidity, natural(255), (value, amount, input) => {
        if (input * value >= 1n << 256n) fallbacks++
        expectAfterInput0(value, amount, input)
      }),
      { numRuns: cases(3000) },
    )
    expect(fallbacks).toBeGreaterThan(100)
  })

  it('the price after an input of token0 agrees when the sum overflows and the product does not', () => {
    const high = fc.bigInt({ min: MAX_SQRT_RATIO >> 8n, max: MAX_SQRT_RATIO - 1n })
    const much = fc.bigInt({ min: 1n << 120n, max: (1n << 128n) - 1n })
    fc.assert(
      fc.property(high, much, fc.bigInt({ min: -2n, max: 18n }), (value, amount, sixteenths) => {
        // From just past 2^256 for the product to just below it for the sum.
        const input = ((1n << 256n) - (sixteenths * (amount << 96n)) / 16n) / value
        expectAfterInput0(value, amount, input)
      }),
      { numRuns: cases(1000) },
    )
  })

  it('the price after an input of token1 agrees, or both refuse more than 160 bits', () => {
    fc.assert(
      fc.property(price, liquidity, natural(200), (value, amount, input) => {
        const expected = big(
          sdk.SqrtPriceMath.getNextSqrtPriceFromInput(jsbi(value), jsbi(amount), jsbi(input), false),
        )
        if (expected < 1n << 160n) expect(sqrtPriceMath.afterInput1(value, amount, input)).toBe(expected)
        else expect(() => sqrtPriceMath.afterInput1(value, amount, input)).toThrow('160 bits')
      }),
      { numRuns: cases(2000) },
    )
  })

  it('the price after an output agrees, or both refuse to pay it', () => {
    fc.assert(
      fc.property(price, liquidity, natural(160), side, (value, amount, output, token) => {
        const ours = () =>
          token === 0
            ? sqrtPriceMath.afterOutput0(value, amount, output)
            : sqrtPriceMath.afterOutput1(value, amount, output)
        const theirs = () =>
          big(
            sdk.SqrtPriceMath.getNextSqrtPriceFromOutput(
              jsbi(value),
              jsbi(amount),
              jsbi(output),
              token === 1,
            ),
          )
        const expected = attempt(theirs)
        // The SDK leaves out the contract's conversion to 160 bits.
        if (expected === null || expected >= 1n << 160n) expect(ours).toThrow()
        else expect(ours()).toBe(expected)
      }),
      { numRuns: cases(3000) },
    )
  })

  it('one step agrees in price, input with fee, and output', () => {
    fc.assert(
      fc.property(
        prices,
        liquidity,
        natural(230),
        fee,
        fc.boolean(),
        ([from, to], amount, remaining, ppm, isInput) => {
          const trading = swapMath.tradingPpm(ppm)
          const ours = isInput
            ? swapMath.exactIn(from, to, amount, remaining, trading)
            : swapMath.exactOut(from, to, amount, remaining, trading)
          const theirs = sdk.SwapMath.computeSwapStep(
            jsbi(from),
            jsbi(to),
            jsbi(amount),
            jsbi(isInput ? remaining : -remaining),
            jsbi(ppm),
          )
          const [next, input, output, feeAmount] = theirs.map(big)
          expect(ours).toEqual({
            sqrtPriceX96: next,
            amountIn: (input as bigint) + (feeAmount as bigint),
            amountOut: output,
          })
          const free = swapMath.toTarget(from, to, amount, trading)
          // A price rounded up for an output may reach the target without all that is there being asked for.
          if (next === to && (isInput || remaining >= free.amountOut)) expect(ours).toEqual(free)
          else expect(ours.amountIn <= free.amountIn && ours.amountOut <= free.amountOut).toBe(true)
        },
      ),
      { numRuns: cases(5000) },
    )
  })

  it('R-ticks-1: a whole swap agrees, exact input and exact output, with and without a limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        poolPlan,
        side,
        fc.boolean(),
        natural(140),
        limitDistance,
        async (plan, token, isInput, amount, distance) => {
          const pool = build(plan)
          const limit = limitAt(pool, token, distance)
          fc.pre(pool.terms.book.size > 0 && isAhead(pool, token, limit))
          const order = { kind: isInput ? 'EXACT_IN' : 'EXACT_OUT', amount } as const
          const ours = swapLoop.swap(pool.terms, pool.state, token, order, limit)
          if ('reason' in ours) throw new Error('the whole range is known')
          const theirs = await sdkSwap(pool, token, isInput ? amount : -amount, limit)
          expect(big(theirs.sqrtRatioX96)).toBe(ours.sqrtPriceX96)
          expect(big(theirs.liquidity)).toBe(ours.liquidity)
          expect(theirs.tickCurrent).toBe(ours.tick)
          const calculated = isInput === (token === 0) ? ours.amount1 : ours.amount0
          expect(big(theirs.amountCalculated)).toBe(calculated)
        },
      ),
      { numRuns: cases(1500) },
    )
  })

  it('the input of a walk to a limit is the smallest with which the SDK arrives there', async () => {
    await fc.assert(
      fc.asyncProperty(poolPlan, side, limitDistance, async (plan, token, distance) => {
        const pool = build(plan)
        const limit = limitAt(pool, token, distance)
        fc.pre(pool.terms.book.size > 0 && isAhead(pool, token, limit))
        const walk = swapLoop.swap(pool.terms, pool.state, token, swapLoop.TO_LIMIT, limit)
        if ('reason' in walk) throw new Error('the whole range is known')
        const taken = token === 0 ? walk.amount0 : walk.amount1
        // Past the last liquidity an amount is used up before the limit.
        fc.pre(taken > 1n && walk.liquidity > 0n)
        const enough = await sdkSwap(pool, token, taken, limit)
        expect(big(enough.sqrtRatioX96)).toBe(limit)
        expect(big(enough.amountCalculated)).toBe(token === 0 ? walk.amount1 : walk.amount0)
        const tooLittle = await sdkSwap(pool, token, taken - 1n, limit)
        expect(big(tooLittle.sqrtRatioX96)).not.toBe(limit)
      }),
      { numRuns: cases(700) },
    )
  })
})

/** How far away the limit is, in spacings; the wide tiers reach the end of the range. */
const limitDistance = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 600 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 16_000 }) },
)

function limitAt({ terms, state }: BuiltPool, token: Side, distance: number): bigint {
  const tick = state.tick + (token === 0 ? -distance : distance) * terms.tickSpacing
  if (tick <= MIN_TICK || tick >= MAX_TICK) return priceLimit.extremeLimit(state.sqrtPriceX96, token)
  return sqrtRatioAtTick(toTick(tick)) + (token === 0 ? 7n : -7n)
}

function isAhead({ state }: BuiltPool, token: Side, limit: bigint): boolean {
  return token === 0 ? limit < state.sqrtPriceX96 : limit > state.sqrtPriceX96
}

function sdkSwap({ terms, state }: BuiltPool, token: Side, amount: bigint, limit: bigint) {
  const ticks = terms.book.entries().map(
    entry =>
      new sdk.Tick({
        index: entry.tick,
        liquidityGross: entry.gross.toString(),
        liquidityNet: entry.net.toString(),
      }),
  )
  return sdk.v3Swap(
    jsbi(terms.feePpm),
    jsbi(state.sqrtPriceX96),
    state.tick,
    jsbi(state.liquidity),
    terms.tickSpacing,
    new sdk.TickListDataProvider(ticks, terms.tickSpacing),
    token === 0,
    jsbi(amount),
    jsbi(limit),
  )
}

function attempt<T>(run: () => T): T | null {
  try {
    return run()
  } catch {
    return null
  }
}
