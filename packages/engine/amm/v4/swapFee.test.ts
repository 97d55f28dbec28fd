import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../testing/cases.ts'
import { DYNAMIC_FEE, lpFeeFrom, protocolFeeOf, swapFee, swapFeeOf } from './swapFee.ts'

const protocolPpm = fc.bigInt({ min: 0n, max: 1_000n })
const lpFeePpm = fc.bigInt({ min: 0n, max: 1_000_000n })

describe('R-ticks-7: the fee of a v4 swap', () => {
  test('includes the protocol fee: never more than both, never less than either', () => {
    fc.assert(
      fc.property(protocolPpm, lpFeePpm, (protocol, lp) => {
        const fee = swapFee(protocol, lp)
        expect(fee).toBeLessThanOrEqual(protocol + lp)
        expect(fee).toBeGreaterThanOrEqual(protocol > lp ? protocol : lp)
        expect(fee).toBeLessThanOrEqual(1_000_000n)
        // What is left of an input after one and then the other is left after both, but for the rounding.
        const left = (1_000_000n - protocol) * (1_000_000n - lp)
        expect((1_000_000n - fee) * 1_000_000n).toBeLessThanOrEqual(left)
        expect((1_000_001n - fee) * 1_000_000n).toBeGreaterThan(left)
      }),
      { numRuns: cases(200) },
    )
  })

  test('gives the smallest provider fee that produces it', () => {
    fc.assert(
      fc.property(protocolPpm, lpFeePpm, (protocol, lp) => {
        const found = lpFeeFrom(swapFee(protocol, lp), protocol)
        expect(found).not.toBeNull()
        if (found === null) return
        expect(swapFee(protocol, found)).toBe(swapFee(protocol, lp))
        expect(found).toBeLessThanOrEqual(lp)
        if (found > 0n) expect(swapFee(protocol, found - 1n)).toBeLessThan(swapFee(protocol, found))
      }),
      { numRuns: cases(200) },
    )
  })

  test('comes from no provider fee when it is below the protocol fee, or above 100%', () => {
    expect(lpFeeFrom(999n, 1_000n)).toBeNull()
    expect(lpFeeFrom(1_000_001n, 0n)).toBeNull()
  })

  test('is decoded for each direction from the packed word', () => {
    // setProtocolFee(key, 500 | 1000 << 12): token0 in pays 500, token1 in 1000.
    const packed = 500n | (1_000n << 12n)
    expect(protocolFeeOf(packed, 0)).toBe(500n)
    expect(protocolFeeOf(packed, 1)).toBe(1_000n)
    expect(swapFeeOf(packed, 3_000n, 0)).toBe(3_499n)
    expect(swapFeeOf(packed, 3_000n, 1)).toBe(3_997n)
  })

  test('is unknown when the key says that a hook decides', () => {
    expect(DYNAMIC_FEE).toBe(8_388_608n)
    expect(lpFeeFrom(DYNAMIC_FEE, 0n)).toBeNull()
  })
})
