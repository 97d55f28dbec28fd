/**
 * Decimals that change (R-decimals-3, R-decimals-4): a reading that differs from the number in use is not taken as a
 * correction. The engine scales by it only after reading it again half an hour of blocks later, or after an operator
 * has confirmed it.
 */
import type { Decimals } from '../entities.ts'
import type { TokenFacts } from '../input.ts'
import type { BlockRef } from '../chain/block.ts'
import { type Count, type Ms, ms, tick } from '../units.ts'
import type { Scaling } from './magnitudeJump.ts'

/** The most decimals a token may have; a higher number is indistinguishable from a mistake. */
const MAX_DECIMALS = 36

/** Block time between the first reading of a different number and the reading that confirms it. */
export const HOLD_MS = ms(1_800_000)

export function decimalsAfter(before: Decimals | null, facts: TokenFacts, block: BlockRef): Decimals {
  const value = facts.decimals
  const last = before?.value ?? before?.last ?? null
  if (value === null || value < 0 || value > MAX_DECIMALS) {
    const reason = value === null ? (facts.reason ?? 'not read') : `${value} is not 0 to ${MAX_DECIMALS}`
    return before !== null && before.value === null && before.reason === reason
      ? before
      : { value: null, reason, block, changedTo: null, ...(last === null ? {} : { last }) }
  }
  const accepted = {
    value,
    reason: null,
    block,
    changedTo: null,
    ...(last === null || last === value ? {} : { from: last }),
  }
  if (before === null || last === null) return accepted
  if (last === value) {
    if (before.value === null) return accepted
    return before.changedTo === null ? before : withoutChange(before)
  }
  if (facts.confirmed === true) return accepted
  const { changedMs } = before
  if (before.changedTo !== value || changedMs === undefined)
    return { ...before, value: last, reason: null, changedTo: value, changedMs: block.timeMs }
  return block.timeMs - changedMs >= HOLD_MS ? accepted : before
}

function withoutChange({ changedMs: _changedMs, ...decimals }: Decimals): Decimals {
  return { ...decimals, changedTo: null }
}

/** When a differing number takes effect if it is read again; null when there is none. */
export function heldUntilMs(decimals: Decimals | null): Ms | null {
  if (decimals === null || decimals.changedTo === null) return null
  return ms((decimals.changedMs ?? decimals.block.timeMs) + HOLD_MS)
}

/** The scaling in use between two tokens. While a new number is held, the previous one applies. */
export function scalingOf(x: Decimals | null, y: Decimals | null): Scaling {
  const isOther = x?.from !== undefined || y?.from !== undefined
  return {
    digits: less(x?.value ?? null, y?.value ?? null),
    sinceMs: laterOf(x?.block.timeMs, y?.block.timeMs),
    before: isOther ? less(x?.from ?? x?.value ?? null, y?.from ?? y?.value ?? null) : null,
  }
}

const less = (x: Count | null, y: Count | null) => (x === null || y === null ? null : tick(x - y))

const laterOf = (a: Ms = ms(0), b: Ms = ms(0)): Ms => (a > b ? a : b)
