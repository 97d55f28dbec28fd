/**
 * Quotes and price states as JSON text. This is the only module that knows the layout of that text and which parts of
 * it are written once and reused. Every other module either holds the data or passes on the whole text.
 */
import { once } from '../../exact/once.ts'
import type { Fraction } from '../../exact/fraction.ts'
import type { Count } from '../../units.ts'
import type { Edge, Evaluation, Priced, Route, StableView } from '../evaluation.ts'
import { exactText } from './exactText.ts'
import { evidenceText } from './poolText.ts'
import {
  afterMarginal,
  assetsOf,
  beforeRatio,
  candidatesOf,
  headText,
  inOrder,
  stableText,
  weakestOf,
} from './quote.ts'

declare const quoteJson: unique symbol

/** The whole text of a quote, to store or send as it is. */
export type QuoteJson = string & { readonly [quoteJson]: true }

/** The members of an object as JSON text, without the braces. */
export const membersOf = (value: object): string => JSON.stringify(value).slice(1, -1)

/** A quote or a price state: each states the block it was computed at. */
type Dated = Readonly<Record<string, unknown>> & { readonly as_of: object }

/** The placeholder in a text for the sequence of its record. */
export const SEQUENCE = Symbol('stream_sequence')

/**
 * A price that gets its text only when the quote is read: a greatest common divisor and three long divisions for each
 * of the routes are a twentieth of what a swap costs, and few quotes are read.
 */
export class Unreduced {
  readonly value: Fraction
  #text: string | null = null

  constructor(value: Fraction) {
    this.value = value
  }

  get text(): string {
    this.#text ??= JSON.stringify(exactText(this.value))
    return this.#text
  }
}

/** A piece of text shared by several quotes: stored together, they store it once. */
export class Shared {
  readonly parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    this.parts = parts
  }
}

export type Part = string | typeof SEQUENCE | Unreduced | Shared

/** The text at the place of a sequence: the first field of `as_of`. */
export const sequenceText = (sequence: Count): string => `"stream_sequence":${sequence},`

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

function textOf({ parts }: Shared, sequence: string): string {
  let text = ''
  for (const part of parts)
    if (typeof part === 'string') text += part
    else if (part === SEQUENCE) text += sequence
    else text += part instanceof Unreduced ? part.text : textOf(part, sequence)
  return text
}

/**
 * Writes the quotes of one step. They share stables, hops and the quotes of routing assets, each of which is written
 * once.
 */
export class QuoteWriter {
  readonly #chainId: Count
  readonly #policyVersion: string
  readonly #quotes = new Map<Evaluation, Written>()
  readonly #hops = new Map<Edge, WrittenHop>()
  readonly #stables = new Map<StableView, Shared>()

  constructor(chainId: Count, policyVersion: string) {
    this.#chainId = chainId
    this.#policyVersion = policyVersion
  }

  of(evaluation: Evaluation): Written {
    return once(this.#quotes, evaluation, () => {
      const head = headText(this.#chainId, evaluation, this.#policyVersion, 'RETRIEVED')
      return new Written(
        head,
        evaluation.kind === 'PRICED'
          ? this.#body(evaluation)
          : [membersOf({ candidates: candidatesOf(evaluation) })],
      )
    })
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

  /** The text of `routeText` and its hops. There are a dozen routes for each swap, so their members are written by hand. */
  #writeRoute(body: Part[], route: Route, selected: Route | null): void {
    const { price, stable } = route
    const hops = route.edges.map(edge => once(this.#hops, edge, writtenHop))
    body.push(
      `{${beforePriceText(route, selected)},"price_usd":`,
      price === null ? 'null' : new Unreduced(price),
      ',"stable":',
      stable === null ? 'null' : once(this.#stables, stable, writtenStable),
      afterStableText(route, hops),
      ',"hops":[',
    )
    for (const [place, { text }] of hops.entries()) {
      if (place > 0) body.push(',')
      body.push(text)
    }
    body.push(']}')
  }
}

/** A hop, and its caps as the elements of a list. */
type WrittenHop = { readonly text: Shared; readonly caps: string }

/** The text of `hopText`. */
function writtenHop(edge: Edge): WrittenHop {
  const { ratio, marginal } = edge.derived
  const text = new Shared([
    `{${membersOf(beforeRatio(edge))},"ratio":`,
    ratio === null ? 'null' : new Unreduced(ratio),
    `,"evidence":${JSON.stringify(evidenceText(edge))},"marginal":`,
    marginal === null ? 'null' : new Unreduced(marginal),
    `,${membersOf(afterMarginal(edge))}}`,
  ])
  return { text, caps: JSON.stringify(edge.caps).slice(1, -1) }
}

const writtenStable = (stable: StableView): Shared => new Shared([JSON.stringify(stableText(stable))])

/** The members of `beforePrice`. Ids and names of rules need no escaping. */
function beforePriceText(route: Route, selected: Route | null): string {
  const { id, failure, exclusion, material } = route
  const isAccepted = failure === null && exclusion === null
  const reason = failure?.rule ?? exclusion
  const failed = failure === null ? '' : `,"failure":${JSON.stringify(failure)}`
  return (
    `"route_id":"${id}","selected":${route === selected},"accepted":${isAccepted},"material":${material},` +
    `"reason":${reason === null ? 'null' : `"${reason}"`}${failed},` +
    `"weight_microusd":"${route.weight}","capacity_microusd":"${route.capacity}"`
  )
}

/** The members of `afterPrice` but the first. */
function afterStableText(route: Route, hops: readonly WrittenHop[]): string {
  const { edges, asset } = weakestOf(route)
  const ofAsset = asset === null ? '' : `,"routing_asset":{"score":${asset}}`
  const caps = joined(...hops.map(hop => hop.caps))
  return `,"score":${route.score},"components":{"edges":{"score":${edges}}${ofAsset}},"caps":[${caps}]`
}

/**
 * The engine keeps no history of prices and writes `change: null`; the first occurrence in the text is the quote's
 * own.
 */
export const withChange = (quote: QuoteJson, change: object | null): QuoteJson =>
  change === null
    ? quote
    : (quote.replace('"change":null', () => `"change":${JSON.stringify(change)}`) as QuoteJson)

const joined = (...members: readonly string[]): string => members.filter(each => each !== '').join()
