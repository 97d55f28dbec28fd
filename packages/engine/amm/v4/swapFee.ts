/**
 * The fee of a v4 swap, in millionths of the input.
 *
 * The protocol takes its fee first and the liquidity providers take theirs from the rest, so that a swap costs
 * protocol + lp - protocol*lp/1e6, the product rounded down (ProtocolFeeLibrary.calculateSwapFee). A Swap log states
 * this sum: it includes the protocol's fee, which must not be added again.
 */
import type { Side } from '../states.ts'
import { assert } from '../../assert.ts'

const PPM = 1_000_000n
/** Each direction has 12 bits; the lower ones are for token0 as input. */
const SIDE_BITS = 12n
const SIDE_MASK = (1n << SIDE_BITS) - 1n

/** All of the input is the fee: nothing trades. */
export const WHOLE_FEE = PPM

/** The value in the key of a pool whose hook sets the fee. It is not a fee. */
export const DYNAMIC_FEE = 0x800000n

/** `packed` is the pool's protocol fee as the manager stores and logs it. */
export function protocolFeeOf(packed: bigint, side: Side): bigint {
  return side === 0 ? packed & SIDE_MASK : packed >> SIDE_BITS
}

export function swapFeeOf(packed: bigint, lpFeePpm: bigint, side: Side): bigint {
  return swapFee(protocolFeeOf(packed, side), lpFeePpm)
}

export function swapFee(protocolPpm: bigint, lpFeePpm: bigint): bigint {
  return protocolPpm + lpFeePpm - (protocolPpm * lpFeePpm) / PPM
}

/**
 * The providers' fee that gives this swap fee; the smallest one when rounding allows two. Null when none does, as for
 * a swap fee below the protocol's.
 */
export function lpFeeFrom(swapFeePpm: bigint, protocolPpm: bigint): bigint | null {
  assert(protocolPpm < PPM, () => `a protocol fee of ${protocolPpm}`)
  if (swapFeePpm < protocolPpm || swapFeePpm > PPM) return null
  // swapFee(p, lp) is p + ceil(lp * (1e6 - p) / 1e6): the smallest lp for a sum is the floor of its inverse,
  // or the one above.
  const rest = PPM - protocolPpm
  const above = swapFeePpm - protocolPpm
  const guess = above === 0n ? 0n : ((above - 1n) * PPM) / rest + 1n
  return swapFee(protocolPpm, guess) === swapFeePpm ? guess : null
}
