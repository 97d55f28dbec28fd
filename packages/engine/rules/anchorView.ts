/**
 * What the tokens priced through a stable or routing asset see of it: whether it has a price, how far to trust it,
 * and the routes they may continue along. A view that differs from the last one affects them (R-trigger-8).
 */
import type { Evaluation, Onward } from '../price/evaluation.ts'
import type { Score } from '../units.ts'
import { type Cap, isSameCaps, type UnpricedReason } from './reasons.ts'

/** A route of an anchor as seen by a token that selects it. */
export type RouteView = { readonly id: string; readonly score: Score; readonly caps: readonly Cap[] }

export type AnchorView =
  | { readonly reason: UnpricedReason; readonly minor: readonly RouteView[] }
  | {
      readonly score: Score
      readonly caps: readonly Cap[]
      /** The routes the anchor's price rests on, by id. */
      readonly material: readonly Omit<RouteView, 'caps'>[]
      /** Routes by id that other tokens may continue along although the anchor's own price hardly rests on them. */
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

/** What has changed about an anchor for the tokens priced through it. */
export type AnchorChange = {
  /** The anchor has a price now and had one before. */
  readonly isStillPriced: boolean
  /** The anchor's own score, caps, material routes or reason changed. */
  readonly isMain: boolean
  /** Routes that hardly matter to the anchor's own price and have changed. */
  readonly minorIds: ReadonlySet<string>
}

/** Null when other tokens see no change. */
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

const byId = (a: { readonly id: string }, b: { readonly id: string }): -1 | 0 | 1 =>
  a.id < b.id ? -1 : a.id > b.id ? 1 : 0
