/**
 * Judges a look. The general measure: a price may be off by 5% at a score of 7 or more, by 20% at 5 and 6, by 50% at
 * 4, and by any amount below. An attack may require more when a lower score is the point.
 */
import type { Attack } from './attack.ts'
import type { Look } from './look.ts'

/** The allowed error of a price, from each score on. */
const MEASURE = [
  { from: 7, within: 0.05 },
  { from: 5, within: 0.2 },
  { from: 4, within: 0.5 },
] as const
/** Rounding of a quote's display, and of a market made in doubles. */
const ROUNDING = 1e-9

export type Judged = Look & { readonly error: number; readonly faults: readonly string[] }

export function judge({ wanted, against = 'before' }: Attack, look: Look): Judged {
  const truth = against === 'seller' ? look.sellerUsd : look.trueUsd
  const error = look.usd === null ? 0 : Math.abs(look.usd / truth - 1)
  const faults: string[] = []
  const isPriced = look.usd !== null
  const allowed = MEASURE.find(({ from }) => look.score >= from)?.within
  if (allowed !== undefined && !(error <= allowed + ROUNDING))
    faults.push(`${percent(error)} off at a score of ${look.score}`)
  if (isPriced && wanted.atMost !== undefined && look.score > wanted.atMost)
    faults.push(`a score of ${look.score}, at most ${wanted.atMost} is wanted`)
  if (isPriced && wanted.atLeast !== undefined && look.score < wanted.atLeast)
    faults.push(`a score of ${look.score}, at least ${wanted.atLeast} is wanted`)
  if (isPriced && wanted.within !== undefined && !(error <= wanted.within))
    faults.push(`${percent(error)} off, ${percent(wanted.within)} is wanted`)
  if (wanted.state !== undefined && isPriced !== (wanted.state === 'PRICED'))
    faults.push(`${isPriced ? 'PRICED' : 'UNPRICED'}, ${wanted.state} is wanted`)
  if (wanted.changes !== undefined && look.changes !== null && look.changes > wanted.changes)
    faults.push(`${look.changes} changes of the score, at most ${wanted.changes} are wanted`)
  if (isPriced && wanted.code !== undefined && !look.codes.includes(wanted.code))
    faults.push(`no ${wanted.code}`)
  return { ...look, error, faults }
}

/** The look to show: the first wrong one, otherwise the one closest to being wrong. */
export function worstOf(looks: readonly Judged[]): Judged {
  const weight = ({ faults, score, error }: Judged) =>
    (faults.length > 0 ? 1e9 : 0) + score * error + score / 1e6
  const [worst] = looks.toSorted((a, b) => weight(b) - weight(a))
  if (worst === undefined) throw new Error('the attack was never looked at')
  return worst
}

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`
