/**
 * What a block visits, as it is written and no faster: every moment of a pool's life since it was first known, each
 * rebuilt from all blocks of its time. Nothing is carried along but what was booked before.
 */
import * as fraction from '../exact/fraction.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as depthAverage from '../rules/depthAverage.ts'
import type { DepthAverage } from '../rules/depthAverage.ts'
import { temporalMedian } from '../rules/temporalMedian.ts'
import type { Change } from '../rules/temporalWindow.ts'
import { type Ms, ms } from '../units.ts'

/** A state of a pool: no ratio where it is not live, no depth where that is unknown. */
export type Seen = { readonly depthY: bigint | null; readonly ratio: Fraction | null }

/** What a block made of a pool: the state after each of its events. */
export type TouchedBy = { readonly timeMs: Ms; readonly states: readonly Seen[] }

export type Life = { readonly average: DepthAverage; readonly changes: readonly Change[] }

/** A life that began with `average` and `first` at `startMs`. */
export function plainLife(
  startMs: Ms,
  average: DepthAverage,
  first: Seen,
  touches: readonly TouchedBy[],
  blockTimeMs: Ms,
): Life {
  let life: Life = { average, changes: first.ratio === null ? [] : [{ fromMs: startMs, ratio: first.ratio }] }
  let entering = first
  let lastMs = startMs
  for (const timeMs of new Set(touches.map(touch => touch.timeMs))) {
    const states = touches.filter(touch => touch.timeMs === timeMs).flatMap(touch => touch.states)
    life = plainMoment(life, [entering, ...states], lastMs, timeMs, blockTimeMs)
    entering = states.at(-1) ?? entering
    lastMs = timeMs
  }
  return life
}

/** `visited` begins with the state the pool entered with and ends with the one it has from now on. */
function plainMoment(
  { average, changes }: Life,
  visited: readonly Seen[],
  lastMs: Ms,
  timeMs: Ms,
  blockTimeMs: Ms,
): Life {
  const { depthY, ratio } = visited.at(-1) as Seen
  const sinceMs = ms(timeMs - Math.min(timeMs - lastMs, Math.ceil(blockTimeMs / 1000) * 1000))

  const [least] = visited.map(state => state.depthY ?? 0n).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  let { e, l, t0 } = average
  if (least !== l) ({ e, l, t0 } = depthAverage.change({ e, l, t0 }, least as bigint, sinceMs))
  const held = depthY ?? average.l
  const after = depthAverage.change({ e, l, t0 }, held, timeMs)

  const entering = changes.at(-1)?.ratio
  if (entering === undefined)
    return { average: after, changes: ratio === null ? [] : [{ fromMs: timeMs, ratio }] }
  const past = timeMs - lastMs > 300_000 ? null : temporalMedian(changes, lastMs).value
  let booked = entering
  if (past !== null && 'median' in past)
    for (const other of visited)
      if (other.ratio !== null && isNearer(past.median, other.ratio, booked)) booked = other.ratio
  const spans = [
    ...changes.filter(({ fromMs }) => fromMs < sinceMs),
    ...(sinceMs < timeMs ? [{ fromMs: sinceMs, ratio: booked }] : []),
    { fromMs: timeMs, ratio: ratio ?? entering },
  ]
  const unequal = spans.filter(
    (span, at) => at === 0 || fraction.compareExactly(span.ratio, (spans[at - 1] as Change).ratio) !== 0,
  )
  return { average: after, changes: unequal }
}

/** Fewer dev_bps from the median, or as many and lower. */
export function isNearer(median: Fraction, one: Fraction, other: Fraction): boolean {
  const order = fraction.compareExactly(apart(one, median), apart(other, median))
  return order < 0 || (order === 0 && fraction.compareExactly(one, other) < 0)
}

/** The greater over the lesser. */
function apart(a: Fraction, b: Fraction): Fraction {
  const quotient = { num: a.num * b.den, den: a.den * b.num }
  return quotient.num >= quotient.den ? quotient : { num: quotient.den, den: quotient.num }
}
