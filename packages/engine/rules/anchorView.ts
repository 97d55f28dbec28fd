/**
 * What others see of a stable or routing asset they are priced through: whether it has a price, how far to trust it, and
 * the routes they may go on from. A view that differs from the last one concerns them (R-trigger-8).
 */
import type { Evaluation, Onward } from '../price/evaluation.ts'
import type { Score } from '../units.ts'
import type { Cap, UnpricedReason } from './reasons.ts'

/** A route of an anchor, as a token that selects it shows it. */
export type RouteView = { readonly id: string; readonly score: Score; readonly caps: readonly Cap[] }

export type AnchorView =
  | { readonly reason: UnpricedReason; readonly minor: readonly RouteView[] }
  | {
      readonly score: Score
      readonly caps: readonly Cap[]
      /** The routes it rests on, by id. */
      readonly material: readonly Omit<RouteView, 'caps'>[]
      /** Those that others may go on from although it hardly rests on them itself, by id. */
      readonly minor: readonly RouteView[]
    }

export const isPricedView = (view: AnchorView | undefined): boolean => view !== undefined && 'score' in view

export function anchorView(evaluation: Evaluation, onward: readonly Onward[]): AnchorView {
  const minor = onward
    .filter(({ route }) => !route.material)
    .map(({ route: { id, score, edges } }) => ({ id, score, caps: edges.flatMap(edge => edge.caps) }))
    .sort(byId)
  if (evaluation.kind === 'UNPRICED') return { reason: evaluation.reason, minor }
  const material = evaluation.routes
    .filter(route => route.material)
    .map(({ id, score }) => ({ id, score }))
    .sort(byId)
  return { score: evaluation.score, caps: evaluation.caps, material, minor }
}

/** What of an anchor has changed for those priced through it. */
export type AnchorChange = {
  /** It has a price now and had one before. */
  readonly isStillPriced: boolean
  /** Its own score, caps, material routes or reason. */
  readonly isMain: boolean
  /** Routes that hardly matter to itself and are not what they were. */
  readonly minorIds: ReadonlySet<string>
}

/** Null where others see the same. */
export function anchorChange(before: AnchorView | undefined, now: AnchorView): AnchorChange | null {
  const isMain = before === undefined || !isSameMain(before, now)
  const minorIds = new Set(
    [
      ...now.minor.filter(route => !before?.minor.some(each => isSameRoute(each, route))),
      ...(before?.minor.filter(route => !now.minor.some(each => isSameRoute(each, route))) ?? []),
    ].map(({ id }) => id),
  )
  if (!isMain && minorIds.size === 0) return null
  return { isStillPriced: isPricedView(before) && isPricedView(now), isMain, minorIds }
}

function isSameMain(a: AnchorView, b: AnchorView): boolean {
  if ('reason' in a || 'reason' in b) return 'reason' in a && 'reason' in b && a.reason === b.reason
  return (
    a.score === b.score &&
    isSameCaps(a.caps, b.caps) &&
    a.material.length === b.material.length &&
    a.material.every(({ id, score }, at) => id === b.material[at]?.id && score === b.material[at]?.score)
  )
}

const isSameRoute = (a: RouteView, b: RouteView): boolean =>
  a.id === b.id && a.score === b.score && isSameCaps(a.caps, b.caps)

const isSameCaps = (a: readonly Cap[], b: readonly Cap[]): boolean =>
  a.length === b.length && a.every(({ code, cap }, at) => code === b[at]?.code && cap === b[at]?.cap)

const byId = (a: { readonly id: string }, b: { readonly id: string }): -1 | 0 | 1 =>
  a.id < b.id ? -1 : a.id > b.id ? 1 : 0
