/**
 * Quotes and price states as JSON text. This is the only module that knows the layout of that text and which parts of it
 * are written once and reused. Every other module either holds the data or passes the whole text on.
 */
import type { Count } from '../../units.ts'
import type { Edge, Evaluation, Priced, Route } from '../evaluation.ts'
import { assetsOf, candidatesOf, headText, hopText, inOrder, routeText } from './quote.ts'

declare const quoteJson: unique symbol

/** The whole text of a quote, to store or send as it is. */
export type QuoteJson = string & { readonly [quoteJson]: true }

/** The members of an object as JSON text, without the braces. */
export const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

/** A quote or a price state: each names the block it was computed at. */
type Dated = Readonly<Record<string, unknown>> & { readonly as_of: object }

/**
 * A quote or a price state as text, all but the sequence of its record: `stream_sequence` is the first field of
 * `as_of`, and only known once the log is locked. The quotes nested in a quote belong to the same commit and get
 * the same one.
 */
export class Written {
  /** Between any two of them the sequence has its place. */
  readonly parts: readonly string[]

  /** `body`: further members, as text. */
  constructor(value: Dated, body: readonly string[] = ['']) {
    const before: Record<string, unknown> = {}
    const after: Record<string, unknown> = {}
    let side = before
    for (const [name, field] of Object.entries(value))
      if (name === 'as_of') side = after
      else side[name] = field
    const [first = '', ...rest] = body
    const inner = [joined(`${membersOf(value.as_of)}}`, membersOf(after), first), ...rest]
    this.parts = [`{${joined(membersOf(before), '"as_of":')}{`, ...inner.slice(0, -1), `${inner.at(-1)}}`]
  }

  /** Without a sequence. */
  get text(): string {
    return this.parts.join('')
  }

  /** `head`: members to put before its own, as text. */
  at(sequence: Count, head = ''): string {
    const text = this.parts.join(`"stream_sequence":${sequence},`)
    return head === '' ? text : `{${head},${text.slice(1)}`
  }
}

/** Writes the quotes of one step. They share hops and the quotes of routing assets, each of which is written once. */
export class QuoteWriter {
  readonly #chainId: Count
  readonly #policyVersion: string
  readonly #quotes = new Map<Evaluation, Written>()
  readonly #hops = new Map<Edge, string>()

  constructor(chainId: Count, policyVersion: string) {
    this.#chainId = chainId
    this.#policyVersion = policyVersion
  }

  of(evaluation: Evaluation): Written {
    return known(this.#quotes, evaluation, () => {
      const head = headText(this.#chainId, evaluation, this.#policyVersion, 'RETRIEVED')
      return new Written(
        head,
        evaluation.kind === 'PRICED'
          ? this.#body(evaluation)
          : [membersOf({ candidates: candidatesOf(evaluation) })],
      )
    })
  }

  #body(evaluation: Priced): string[] {
    const routes = inOrder(evaluation).map(route => this.#route(route, evaluation.selected))
    const body = [`"routes":[${routes.join()}],"routing_assets":[`]
    assetsOf(evaluation).forEach((asset, at) => {
      const [first, ...rest] = this.of(asset).parts
      body.push(`${body.pop()}${at === 0 ? '' : ','}${first}`, ...rest)
    })
    body.push(`${body.pop()}]`)
    return body
  }

  #route(route: Route, selected: Route | null): string {
    const hops = route.edges.map(edge => known(this.#hops, edge, () => JSON.stringify(hopText(edge))))
    return `{${membersOf(routeText(route, selected))},"hops":[${hops.join()}]}`
  }
}

/** The engine keeps no history of prices and writes `change: null`; the first in the text is the quote's own. */
export const withChange = (quote: QuoteJson, change: object | null): QuoteJson =>
  change === null
    ? quote
    : (quote.replace('"change":null', () => `"change":${JSON.stringify(change)}`) as QuoteJson)

const joined = (...members: readonly string[]): string => members.filter(each => each !== '').join()

function known<Key, Value>(values: Map<Key, Value>, key: Key, make: () => Value): Value {
  const value = values.get(key) ?? make()
  values.set(key, value)
  return value
}
