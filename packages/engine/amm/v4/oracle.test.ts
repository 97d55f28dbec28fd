/** Every vector that Python computed; see oracle/v4.py for how, and for the command. */
import { describe, expect, test } from 'vitest'
import * as fraction from '../../exact/fraction.ts'
import vectors from '../../oracle/v4.json' with { type: 'json' }
import { tick } from '../../units.ts'
import { lpFeeFrom, protocolFeeOf, swapFeeOf } from './swapFee.ts'
import { v4 } from './v4.ts'

describe('v4 pools agree with Python', () => {
  test('R-ticks-7: on the fee of a swap each way, and on the liquidity providers’ fee derived from it', () => {
    expect(vectors.fees).toHaveLength(200)
    for (const { protocol_fee, lp_fee, swap_fee, least_lp_fee } of vectors.fees)
      for (const side of [0, 1] as const) {
        const packed = BigInt(protocol_fee)
        const fee = swapFeeOf(packed, BigInt(lp_fee), side)
        expect(fee).toBe(BigInt(swap_fee[side] as number))
        expect(lpFeeFrom(fee, protocolFeeOf(packed, side))).toBe(BigInt(least_lp_fee[side] as number))
      }
  })

  test('R-ticks-1: on the price', () => {
    expect(vectors.prices).toHaveLength(100)
    for (const { sqrt_price_x96, price } of vectors.prices) {
      const [num = '', den = ''] = price
      const state = {
        family: 'amm_v4',
        sqrtPriceX96: BigInt(sqrt_price_x96),
        tick: tick(0),
        liquidity: 1n,
        lpFeePpm: 3000n,
        protocolFee: 0n,
      } as const
      const wanted = { num: BigInt(num), den: BigInt(den) }
      expect(fraction.compareExactly(v4.marginal(state), wanted)).toBe(0)
    }
  })
})
