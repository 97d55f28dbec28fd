/**
 * Quotes and price states as JSON text. This module and `hopJson.ts` alone know the layout of that text and which parts
 * of it are written once and reused. Every other module either passes on the whole text or parses it.
 */
import { idOf } from '../../chain/block.ts'
import { once } from '../../exact/once.ts'
import { unsupportedFamily } from '../../rules/guards.ts'
import type { Count } from '../../units.ts'
import type { Edge, Evaluation, Priced, Route, StableView, Unpriced } from '../evaluation.ts'
import { membersOf, quoted, type WrittenHop, writtenHop } from './hopJson.ts'
import { type Part, SEQUENCE, sequenceText, Shared, textOf, unreduced } from './parts.ts'
import {
  assetsOf,
  headText,
  inOrder,
  type QuoteSource,
  type QuoteText,
  stableText,
  weakestOf,
} from './quote.ts'

declare const quoteJson: unique symbol

/** The whole text of a quote, to store or send as it is. */
export type QuoteJson = string & { readonly [quoteJson]: true }

/** The number of candidates shown for a token without a price. */
const MAX_CANDIDATES = 5

/** A quote or a price state: each states the block it was computed at. */
type Dated = Readonly<Record<string, unknown>> & { readonly as_of: object }

/**
 * A quote or a price state as text, without the sequence of its record: `stream_sequence` is the first field of
 * `as_of`, and known only once the log is locked. The quotes nested in a quote belong to the same commit and get the
 * same sequence.
 */
export class Written extends Shared {
  /** `body`: further members, as text. */
  constructor(value: Dated, body: readonly Part[] = []) {
    const before: Record<string, unknown> = {}
    const after: Record<string, unknown> = {}
    let side = before
    for (const [name, field] of Object.entries(value))
      if (name === 'as_of') side = after
      else side[name] = field
    const head = `{${joined(membersOf(before), '"as_of":')}{`
    const tail = joined(`${membersOf(value.as_of)}}`, membersOf(after))
    const isWhole = body.every(part => part === '')
    super(isWhole ? [head, SEQUENCE, `${tail}}`] : [head, SEQUENCE, `${tail},`, ...body, '}'])
  }

  /** Without a sequence. */
  get text(): string {
    return textOf(this, '')
  }

  /** `head`: members to put before its own, as text. */
  at(sequence: Count, head = ''): string {
    const text = textOf(this, sequenceText(sequence))
    return head === '' ? text : `{${head},${text.slice(1)}`
  }
}

/**
 * Writes the quotes of one step. They share stables, hops and the quotes of routing assets, each of which is written
 * once.
 */
export class QuoteWriter {
  readonly #chainId: Count
  readonly #policyVersion: string
  readonly #source: QuoteSource
  readonly #quotes = new Map<Evaluation, Written>()
  readonly #hops = new Map<Edge, WrittenHop>()
  readonly #stables = new Map<StableView, Shared>()
  readonly #onward = new Map<Route, WrittenOnward>()
  readonly #phrases = new Map<string, Shared>()

  constructor(chainId: Count, policyVersion: string, source: QuoteSource = 'RETRIEVED') {
    this.#chainId = chainId
    this.#policyVersion = policyVersion
    this.#source = source
  }

  of(evaluation: Evaluation): Written {
    return once(this.#quotes, evaluation, () => {
      const head = headText(this.#chainId, evaluation, this.#policyVersion, this.#source)
      return new Written(
        head,
        evaluation.kind === 'PRICED' ? this.#body(evaluation) : this.#candidates(evaluation),
      )
    })
  }

  /** The pools or routes closest to a price, the rule each failed, and the values. */
  #candidates({ routes, elsewhere }: Unpriced): Part[] {
    const nearest = routes.slice(0, MAX_CANDIDATES).map(({ id, edges, failure }) => {
      const hops = edges.map(edge => once(this.#hops, edge, writtenHop).text)
      const failed = failure === null ? '' : membersOf(failure)
      return new Shared([
        `{"route_id":"${id}","hops":[`,
        ...separated(hops),
        failed === '' ? ']}' : `],${failed}}`,
      ])
    })
    const unpriced = elsewhere.map(pool =>
      JSON.stringify({ route_id: idOf(pool.address), hops: [], ...unsupportedFamily(pool) }),
    )
    return ['"candidates":[', ...separated([...nearest, ...unpriced]), ']']
  }

  #body(evaluation: Priced): Part[] {
    const body: Part[] = ['"routes":[']
    inOrder(evaluation).forEach((route, at) => {
      if (at > 0) body.push(',')
      this.#writeRoute(body, route, evaluation.selected)
    })
    body.push('],"routing_assets":[')
    assetsOf(evaluation).forEach((asset, at) => {
      if (at > 0) body.push(',')
      body.push(this.of(asset))
    })
    return [...body, ']']
  }

  /** Written by hand: there are nine routes for each swap, most of whose text is that of other routes. */
  #writeRoute(body: Part[], route: Route, selected: Route | null): void {
    const { first, via, price, stable } = route
    const hops = route.edges.map(edge => once(this.#hops, edge, writtenHop))
    const onward = via === null ? null : once(this.#onward, via.route, each => this.#writtenOnward(each))
    body.push(
      `{"route_id":"${onward === null ? route.id : first.pool.id}`,
      onward === null ? '' : onward.id,
      this.#phrase(verdictText(route, selected)),
      `"weight_microusd":"${route.weight}","capacity_microusd":"${route.capacity}","price_usd":`,
      unreduced(price),
      ',"stable":',
      stable === null ? 'null' : once(this.#stables, stable, writtenStable),
      this.#phrase(afterStableText(route, hops)),
    )
    if (onward === null) body.push(...separated(hops.map(({ text }) => text)))
    else body.push((hops[0] as WrittenHop).text, ',', onward.hops)
    body.push(']}')
  }

  #writtenOnward({ id, edges }: Route): WrittenOnward {
    const hops = edges.map(edge => once(this.#hops, edge, writtenHop).text)
    return { id: new Shared([`-${id}`]), hops: new Shared(separated(hops)) }
  }

  #phrase(text: string): Shared {
    return once(this.#phrases, text, () => new Shared([text]))
  }
}

/** What the routes through an asset have of the route they continue along. */
type WrittenOnward = { readonly id: Shared; readonly hops: Shared }

const separated = (parts: readonly Part[]): Part[] =>
  parts.flatMap((part, at) => (at === 0 ? [part] : [',', part]))

const writtenStable = (stable: StableView): Shared => new Shared([JSON.stringify(stableText(stable))])

/** The members between the id and the weight. Names of rules need no escaping. */
function verdictText(route: Route, selected: Route | null): string {
  const { failure, exclusion, material } = route
  const isAccepted = failure === null && exclusion === null
  const failed = failure === null ? '' : `,"failure":${JSON.stringify(failure)}`
  return (
    `","selected":${route === selected},"accepted":${isAccepted},"material":${material},` +
    `"reason":${quoted(failure?.rule ?? exclusion)}${failed},`
  )
}

/** The members after the stable, up to the hops. */
function afterStableText(route: Route, hops: readonly WrittenHop[]): string {
  const { edges, asset } = weakestOf(route)
  const ofAsset = asset === null ? '' : `,"routing_asset":{"score":${asset}}`
  const caps = joined(...hops.map(hop => hop.caps))
  return `,"score":${route.score},"components":{"edges":{"score":${edges}}${ofAsset}},"caps":[${caps}],"hops":[`
}

/** One quote alone, as data. */
export const quoteText = (
  chainId: Count,
  evaluation: Evaluation,
  policyVersion: string,
  source: QuoteSource,
): QuoteText => JSON.parse(new QuoteWriter(chainId, policyVersion, source).of(evaluation).text)

/**
 * The engine keeps no history of prices and writes `change: null`; the first occurrence in the text is the quote's
 * own.
 */
export const withChange = (quote: QuoteJson, change: object | null): QuoteJson =>
  change === null
    ? quote
    : (quote.replace('"change":null', () => `"change":${JSON.stringify(change)}`) as QuoteJson)

const joined = (...members: readonly string[]): string => members.filter(each => each !== '').join()
