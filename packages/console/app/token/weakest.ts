/** The link that determines a score: the worst material route, its worst hop, and that hop's worst component. */
import type { Hop, PricedQuote } from '@assay/sdk'

export type Weakest = { readonly component: string; readonly score: number; readonly hop: Hop }

export function weakestLink({ routes }: Pick<PricedQuote, 'routes'>): Weakest | null {
  const material = routes.filter(({ accepted, material }) => accepted && material)
  const route = leastOf(material.length > 0 ? material : routes.filter(({ accepted }) => accepted))
  const hop = leastOf(route?.hops ?? [])
  if (hop === undefined) return null
  const component = leastOf(
    Object.entries(hop.components).flatMap(([name, part]) =>
      part === undefined ? [] : [{ name, score: part.score }],
    ),
  )
  return component === undefined ? null : { component: component.name, score: component.score, hop }
}

function leastOf<Scored extends { readonly score: number }>(all: readonly Scored[]): Scored | undefined {
  let least: Scored | undefined
  for (const each of all) if (least === undefined || each.score < least.score) least = each
  return least
}
