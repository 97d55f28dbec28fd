/**
 * The full quotes of one step as they are stored: what `quoteText` says, to the letter. They share their hops and the
 * quotes of the routing assets, and a popular token has dozens of routes: what is shared is written once.
 */
import type { Count } from '../../units.ts'
import type { Edge, Evaluation, Priced, Route } from '../evaluation.ts'
import { assetsOf, headText, hopText, inOrder, quoteText, routeText } from './quote.ts'

const SOURCE = 'RETRIEVED'

export class QuoteTexts {
  readonly #chainId: Count
  readonly #policyVersion: string
  readonly #quotes = new Map<Evaluation, string>()
  readonly #hops = new Map<Edge, string>()

  constructor(chainId: Count, policyVersion: string) {
    this.#chainId = chainId
    this.#policyVersion = policyVersion
  }

  of(evaluation: Evaluation): string {
    return known(this.#quotes, evaluation, () =>
      evaluation.kind === 'PRICED'
        ? this.#priced(evaluation)
        : JSON.stringify(quoteText(this.#chainId, evaluation, this.#policyVersion, SOURCE)),
    )
  }

  #priced(evaluation: Priced): string {
    const routes = inOrder(evaluation).map(route => this.#route(route, evaluation.selected))
    const assets = assetsOf(evaluation).map(asset => this.of(asset))
    return extended(
      headText(this.#chainId, evaluation, this.#policyVersion, SOURCE),
      `"routes":[${routes.join()}],"routing_assets":[${assets.join()}]`,
    )
  }

  #route(route: Route, selected: Route | null): string {
    const hops = route.edges.map(edge => known(this.#hops, edge, () => JSON.stringify(hopText(edge))))
    return extended(routeText(route, selected), `"hops":[${hops.join()}]`)
  }
}

function known<Key>(texts: Map<Key, string>, key: Key, make: () => string): string {
  const text = texts.get(key) ?? make()
  texts.set(key, text)
  return text
}

/** An object that is not empty, with further members behind its own. */
const extended = (start: object, members: string): string =>
  `${JSON.stringify(start).slice(0, -1)},${members}}`
