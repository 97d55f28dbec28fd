/**
 * The 2% depth of a pool of Uniswap v4, against @uniswap/v4-sdk: ticks, prices and limits are those of the v3 rows,
 * because the curve is the same. The SDK's pool is called as there: with an unlimited amount and our price limit.
 */
import { createRequire } from 'node:module'
import { v4 } from '../packages/engine/amm/v4/v4.ts'
import type { V4State, V4Terms } from '../packages/engine/amm/v4/kind.ts'
import type { Benchmark } from './benchmark.ts'
import { cases, inputOf, provider, SDK_STATES, STATES, terms, tokens, TWO_PERCENT, walk } from './depth.ts'

type Sdk = typeof import('@uniswap/v4-sdk')
const sdk = createRequire(import.meta.url)('@uniswap/v4-sdk') as Sdk

const NOBODY = `0x${'0'.repeat(40)}` as const
const hooked: V4Terms = {
  family: 'amm_v4',
  keyFee: terms.feePpm,
  tickSpacing: terms.tickSpacing,
  hooks: NOBODY,
  isNative: false,
  manager: NOBODY,
  book: terms.book,
}
const states: readonly V4State[] = cases.map(({ state }) => ({
  ...state,
  family: 'amm_v4',
  lpFeePpm: terms.feePpm,
  protocolFee: 0n,
}))
const pools = states.map(
  ({ sqrtPriceX96, liquidity, tick }) =>
    new sdk.Pool(
      ...tokens,
      Number(terms.feePpm),
      terms.tickSpacing,
      NOBODY,
      sqrtPriceX96.toString(),
      liquidity.toString(),
      tick,
      provider,
    ),
)

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'v4 2% depth both ways, 500 ticks, live index',
    unit: 'depth',
    goal: { ratio: 1500, sense: 'at least' },
    ours: {
      name: 'prefix sums',
      operations: STATES,
      run: () => states.map(state => v4.depth(hooked, state, 0, TWO_PERCENT)),
    },
    peer: { name: '@uniswap/v4-sdk Pool', operations: SDK_STATES, run: sdkDepths },
    check: assertSameAsSdk,
  },
]

async function sdkDepths(): Promise<unknown> {
  const results: unknown[] = []
  for (const [at, pool] of pools.slice(0, SDK_STATES).entries())
    for (const side of [0, 1] as const) results.push(await pool.getOutputAmount(...unlimited(at, side)))
  return results
}

function unlimited(at: number, side: 0 | 1): Parameters<(typeof pools)[number]['getOutputAmount']> {
  const { inputs, sdkLimits } = cases[at] as (typeof cases)[number]
  return [inputs[side], sdkLimits[side]]
}

/** Our input reaches the limit with the output that we state, and one unit less does not. */
async function assertSameAsSdk(): Promise<void> {
  for (const [at, state] of states.entries()) {
    const { state: slot, limits, sdkLimits } = cases[at] as (typeof cases)[number]
    const pool = pools[at] as (typeof pools)[number]
    const depth = v4.depth(hooked, state, 0, TWO_PERCENT)
    if ('reason' in depth) throw new Error('the whole range is known')
    for (const side of [0, 1] as const) {
      const input = side === 0 ? depth.down : depth.up
      const swap = walk(slot, side, limits[side])
      const output = side === 0 ? -swap.amount1 : -swap.amount0
      const [arrived, after] = await pool.getOutputAmount(inputOf(side, input), sdkLimits[side])
      const [, short] = await pool.getOutputAmount(inputOf(side, input - 1n), sdkLimits[side])
      const limit = limits[side].toString()
      const isSame =
        after.sqrtRatioX96.toString() === limit &&
        short.sqrtRatioX96.toString() !== limit &&
        arrived.quotient.toString() === output.toString()
      if (!isSame) throw new Error(`the SDK does not take ${input} of token${side} to reach ${limit}`)
    }
  }
}
