/** Whether a pool that the vote left out dissents, and until when time alone leaves that unchanged. */
import type { Fraction } from '../../exact/fraction.ts'
import { times } from '../../exact/fraction.ts'
import { nextFlip } from '../../memory/tapeMedian.ts'
import { dissent, isBeyond, isLoud, type LeftOut } from '../../rules/dissent.ts'
import type { Cap } from '../../rules/reasons.ts'
import { earlier, FOREVER, type Timed } from '../../rules/timed.ts'
import type { Edge, Route } from '../evaluation.ts'
import type { Moment } from '../moment.ts'

const SILENCE: Timed<Cap | null> = { value: null, untilMs: FOREVER }

/** `byFirst` is the weight of all qualified routes by first hop. */
export function dissentAt(
  { policy, atMs, leastMicrousd }: Moment,
  observations: readonly Route[],
  dust: readonly Route[],
  byFirst: ReadonlyMap<Edge, bigint>,
  { price }: Route,
): Timed<Cap | null> {
  if (dust.length === 0 || policy.revision === 1) return SILENCE
  let total = 0n
  for (const weight of byFirst.values()) total += weight
  const leftOut: LeftOut[] = []
  let untilMs = FOREVER
  for (const edge of new Set(dust.map(({ first }) => first))) {
    const weight = byFirst.get(edge) as bigint
    if (!isLoud(policy, weight, total, leastMicrousd)) continue
    if (observations.some(({ first }) => first === edge)) continue
    const marginal = inUsd(edge, edge.derived.marginal)
    if (marginal === null || !isBeyond(policy, marginal, price as Fraction)) continue
    const { median } = edge.components.temporal
    const { scale } = edge.derived
    const scaled = median === null || scale === null ? null : times(median, scale.whole)
    leftOut.push({ weight, marginal, median: inUsd(edge, scaled) })
    untilMs = earlier(untilMs, nextFlip(edge.state.history, atMs))
  }
  return { value: dissent(policy, leftOut, total, leastMicrousd, price as Fraction), untilMs }
}

const inUsd = ({ toUsd }: Edge, ratio: Fraction | null): Fraction | null =>
  ratio === null || toUsd === null ? null : times(ratio, toUsd)
