/**
 * UNBACKED (R-back-1): a pool that does not hold the tokens it accounts for. If it holds less, it cannot pay what
 * it promises; if it holds more, anyone can take the difference, which will move the price.
 */
import type { Policy } from '../policy/policy.ts'
import type { Count, Ms } from '../units.ts'
import type { Cap } from './reasons.ts'

/** What a pool has of a token, and what it should have: its v2 reserve, or what v3 would pay down to its 2% limit. */
export type Holding = { readonly balance: bigint; readonly against: bigint }

export type Backing = {
  /** Of token0 and of token1. */
  readonly holdings: readonly [Holding, Holding]
  /** Time of the block that it was read at. */
  readonly readMs: Ms
  /** Time of the first of the readings in a row that found a little too much; null where this one does not. */
  readonly excessSinceMs: Ms | null
}

const BPS = 10_000n
/** A little too much may be a transfer that a Sync follows: it has to show twice, this far apart. */
export const EXCESS_MS = 300_000

/** Whether a reading finds a little too much, of either token. A pool with ticks holds fees that nobody has collected yet. */
export const hasExcess = (isPair: boolean, holdings: Backing['holdings'], { backing }: Policy): boolean =>
  isPair && holdings.some(each => isAbove(each, backing.below_bps))

/** `isPair`: a pool that reckons with reserves, not with ticks. */
export function backingCap(isPair: boolean, found: Backing | null, policy: Policy): Cap | null {
  if (found === null || policy.revision === 1) return null
  const { below_bps, above_bps, cap } = policy.backing
  const { holdings, excessSinceMs, readMs } = found
  const isShort = holdings.some(each => isBelow(each, below_bps))
  const isFar = isPair && holdings.some(each => isAbove(each, above_bps))
  const hasStayed = excessSinceMs !== null && readMs - excessSinceMs >= EXCESS_MS
  return isShort || isFar || hasStayed ? { code: 'UNBACKED', cap } : null
}

const isBelow = ({ balance, against }: Holding, bps: Count): boolean =>
  balance * BPS < against * (BPS - BigInt(bps))

const isAbove = ({ balance, against }: Holding, bps: Count): boolean =>
  balance * BPS > against * (BPS + BigInt(bps))
