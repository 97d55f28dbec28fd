/**
 * A token's full quote as it is stored: the text of `quoteText`, to the letter. Quotes of one step share their hops and
 * those of the routing assets; what they share is written once, for a popular token has dozens of routes.
 */
import type { Count } from '../units.ts'
import type { Edge, Evaluation, Priced, Route } from './evaluation.ts'
import { assetsOf, headText, hopText, inOrder, quoteText, routeText } from './quote.ts'

/** An evaluation is of one step, hence of one policy. */
const quotes = new WeakMap<Evaluation, string>()
const hops = new WeakMap<Edge, string>()

export function quoteJson(chainId: Count, evaluation: Evaluation, policyVersion: string): string {
  const known = quotes.get(evaluation)
  if (known !== undefined) return known
  const text =
    evaluation.kind === 'UNPRICED'
      ? JSON.stringify(quoteText(chainId, evaluation, policyVersion, 'RETRIEVED'))
      : pricedJson(chainId, evaluation, policyVersion)
  quotes.set(evaluation, text)
  return text
}

function pricedJson(chainId: Count, evaluation: Priced, policyVersion: string): string {
  const routes = inOrder(evaluation.routes).map(route => routeJson(route, evaluation.selected))
  const assets = assetsOf(evaluation).map(asset => quoteJson(chainId, asset, policyVersion))
  return extended(
    headText(chainId, evaluation, policyVersion, 'RETRIEVED'),
    `"routes":[${routes.join()}],"routing_assets":[${assets.join()}]`,
  )
}

const routeJson = (route: Route, selected: Route | null): string =>
  extended(routeText(route, selected), `"hops":[${route.edges.map(hopJson).join()}]`)

function hopJson(edge: Edge): string {
  const text = hops.get(edge) ?? JSON.stringify(hopText(edge))
  hops.set(edge, text)
  return text
}

/** An object that is not empty, with further members behind its own. */
const extended = (start: object, members: string): string =>
  `${JSON.stringify(start).slice(0, -1)},${members}}`
