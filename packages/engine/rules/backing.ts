/**
 * UNBACKED (R-back-1): a pool that does not hold the tokens it accounts for. If it holds less, it cannot pay what
 * it promises; if it holds more, anyone can take the difference, which will move the price.
 */
import type { Policy } from '../policy/policy.ts'
import { BPS, type Count, type Ms } from '../units.ts'
import type { Cap } from './reasons.ts'

/**
 * What a pool holds of a token, and what it should hold: its v2 reserve, or the amount v3 would pay out down to its
 * 2% limit.
 */
export type Holding = { readonly balance: bigint; readonly against: bigint }

export type Backing = {
  /** For token0 and token1. */
  readonly holdings: readonly [Holding, Holding]
  /** Time of the block at which the balances were read. */
  readonly readMs: Ms
  /** Time of the first of the consecutive readings that found a small excess; null when this reading found none. */
  readonly excessSinceMs: Ms | null
}

/** A small excess may be a transfer that a Sync follows, so it must show in two readings this far apart. */
export const EXCESS_MS = 300_000

/** Whether a reading finds a small excess of either token. A pool with ticks also holds uncollected fees. */
export const hasExcess = (isPair: boolean, holdings: Backing['holdings'], { backing }: Policy): boolean =>
  isPair && holdings.some(each => isAbove(each, backing.below_bps))

/** `isPair`: the pool accounts with reserves, not with ticks. */
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
