/**
 * Values derived from a pool's own state and the decimals of its tokens, independent of time: its ratios in whole
 * tokens, and the guard that its own state fails.
 */
import { bitsOf } from '../../exact/bits.ts'
import { powerOfTen } from '../../exact/decimal.ts'
import { approx, times } from '../../exact/fraction.ts'
import type { Policy } from '../../policy/policy.ts'
import { flawOf } from '../../rules/guards.ts'
import { FOREVER } from '../../rules/timed.ts'
import type { Decimals, Pool, Scale, Derived } from '../../entities.ts'
import { asApprox, count } from '../../units.ts'
import type { Moment } from '../moment.ts'

const NOWHERE = asApprox(Number.NaN)

/** Valid until the pool's state, the decimals or the policy change. */
export function derivedAt({ policy, atMs }: Moment, pool: Pool): Derived {
  const { derived, from, to } = pool.around
  const [x, y] = [from.decimals, to.decimals]
  const known = derived.recall(atMs, pool.state, policy, x, y)
  if (known !== null) return known
  const value = derivedOf(pool, policy, x, y)
  return derived.keep(atMs, pool.state, policy, x, y, { value, untilMs: FOREVER })
}

function derivedOf(pool: Pool, policy: Policy, from: Decimals | null, to: Decimals | null): Derived {
  const { evidence, marginal } = pool.state
  const scale = scaleOf(from, to)
  const ratio =
    evidence === null || scale === null
      ? null
      : times({ num: evidence.amountOut, den: evidence.amountIn }, scale.whole)
  const whole = marginal === null || scale === null ? null : times(marginal, scale.whole)
  return {
    scale,
    ratio,
    approx: ratio === null ? NOWHERE : approx(ratio),
    bits: ratio === null ? count(0) : bitsOf(ratio),
    marginal: whole,
    approxMarginal: whole === null ? NOWHERE : approx(whole),
    flaw: flawOf(pool, policy, from, to),
  }
}

function scaleOf(from: Decimals | null, to: Decimals | null): Scale | null {
  const fromDecimals = usable(from)
  const toDecimals = usable(to)
  if (fromDecimals === null || toDecimals === null) return null
  const common = Math.min(fromDecimals, toDecimals)
  return {
    from: powerOfTen(fromDecimals),
    to: powerOfTen(toDecimals),
    whole: { num: powerOfTen(count(fromDecimals - common)), den: powerOfTen(count(toDecimals - common)) },
  }
}

const usable = (decimals: Decimals | null) =>
  decimals === null || decimals.changedTo !== null ? null : decimals.value
