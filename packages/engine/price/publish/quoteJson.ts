/**
 * Quotes and price states as JSON text. This is the only module that knows the layout of that text and which parts of
 * it are written once and reused. Every other module either holds the data or passes on the whole text.
 */
import { once } from '../../exact/once.ts'
import type { Fraction } from '../../exact/fraction.ts'
import { feeOf } from '../../rules/poolFee.ts'
import type { Count } from '../../units.ts'
import type { Edge, EdgeComponents, Evaluation, Priced, Route, StableView } from '../evaluation.ts'
import {
  agreementMembers,
  capsJson,
  depthMembers,
  evidenceJson,
  members,
  membersOf,
  quoted,
} from './hopJson.ts'
import { type Part, SEQUENCE, sequenceText, Shared, textOf, Unreduced } from './parts.ts'
import { backingText, coverageText, deviationText, holdings, medianOf, pastText } from './poolText.ts'
import { assetsOf, candidatesOf, digitsOf, headText, inOrder, stableText, weakestOf } from './quote.ts'

declare const quoteJson: unique symbol

/** The whole text of a quote, to store or send as it is. */
export type QuoteJson = string & { readonly [quoteJson]: true }

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
  readonly #quotes = new Map<Evaluation, Written>()
  readonly #hops = new Map<Edge, WrittenHop>()
  readonly #stables = new Map<StableView, Shared>()
  readonly #onward = new Map<Route, WrittenOnward>()
  readonly #phrases = new Map<string, Shared>()

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

  /**
   * The text of `routeText` and its hops, written by hand: there are nine routes for each swap, most of whose text is
   * that of other routes.
   */
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

/** A hop, and its caps as the elements of a list. */
type WrittenHop = { readonly text: Shared; readonly caps: string }

/**
 * The text of `hopText`, written by hand: there are two new hops for each swap, and one object with all their members
 * takes twice as long. Members that most hops lack, or that depend on the family, are written from data.
 */
function writtenHop(edge: Edge): WrittenHop {
  const { components, derived } = edge
  const caps = capsJson(edge.caps)
  const text = new Shared([
    `{${beforeRatio(edge)},"ratio":`,
    unreduced(derived.ratio),
    `,"evidence":${evidenceJson(edge)},"marginal":`,
    unreduced(derived.marginal),
    `,${beforeMedian(edge, components)},"median":`,
    unreduced(medianOf(components, edge)),
    `,${afterMedian(edge, components, caps)}}`,
  ])
  return { text, caps }
}

const unreduced = (value: Fraction | null): Part => (value === null ? 'null' : new Unreduced(value))

/** Up to the ratio. Only the id of a deployment comes from a configuration and may need escaping. */
function beforeRatio({ pool, derived: { scale } }: Edge): string {
  const [from, to] = scale === null ? [null, null] : [digitsOf(scale.from), digitsOf(scale.to)]
  return (
    `"pool_id":"${pool.id}","pool_address":"${pool.address}","family":"${pool.terms.family}",` +
    `"deployment_id":${JSON.stringify(pool.deploymentId)},"fee_ppm":${feeOf(pool)},` +
    `"from":"${pool.from}","to":"${pool.to}","from_decimals":${from},"to_decimals":${to}`
  )
}

/** From the marginal price to the median of the components. */
function beforeMedian(edge: Edge, { depth, freshness, agreement, temporal }: EdgeComponents): string {
  const { pool, state, capacity } = edge
  const { lastTradeMs, trackedSinceMs, past, backing } = state
  const read = past === null && backing === undefined ? {} : { ...pastText(state), ...backingText(state) }
  return (
    `${members(holdings(pool, state))}${depthMembers(edge)}"verified_at_ms":${edge.verifiedMs},` +
    `"quiet_since_ms":${lastTradeMs ?? trackedSinceMs},"last_trade_ms":${lastTradeMs},${members(read)}` +
    `"jump_since_ms":${edge.outlook.jumpSinceMs},"settled":${edge.settled},"score":${edge.score},` +
    `"components":{"depth":{"score":${depth.score},"l_eff":${quoted(capacity)}},` +
    `"freshness":{"score":${freshness.score},"age_ms":${freshness.ageMs},"ttl_ms":${freshness.ttlMs}},` +
    `"agreement":{${agreementMembers(agreement)}},` +
    `"temporal":{"score":${temporal.score},"covered_ms":${temporal.coveredMs}`
  )
}

function afterMedian(edge: Edge, components: EdgeComponents, caps: string): string {
  const { feed, state, stable, coverage } = components
  return (
    `"deviation_bps":${quoted(deviationText(components, edge.state))}},` +
    `"feed":{"score":${feed.score},"status":"${feed.status}"},` +
    `"state":{"score":${state.score},"finality":"${state.finality}"}` +
    (stable === null ? '' : `,"stable":{"score":${stable.score}}`) +
    (coverage === null ? '' : `,${membersOf(coverageText(coverage))}`) +
    `},"caps":[${caps}]${edge.failure === null ? '' : `,"failure":${JSON.stringify(edge.failure)}`}`
  )
}

const writtenStable = (stable: StableView): Shared => new Shared([JSON.stringify(stableText(stable))])

/** The members of `beforePrice` between the id and the weight. Names of rules need no escaping. */
function verdictText(route: Route, selected: Route | null): string {
  const { failure, exclusion, material } = route
  const isAccepted = failure === null && exclusion === null
  const failed = failure === null ? '' : `,"failure":${JSON.stringify(failure)}`
  return (
    `","selected":${route === selected},"accepted":${isAccepted},"material":${material},` +
    `"reason":${quoted(failure?.rule ?? exclusion)}${failed},`
  )
}

/** The members of `afterPrice` but the first, up to the hops. */
function afterStableText(route: Route, hops: readonly WrittenHop[]): string {
  const { edges, asset } = weakestOf(route)
  const ofAsset = asset === null ? '' : `,"routing_asset":{"score":${asset}}`
  const caps = joined(...hops.map(hop => hop.caps))
  return `,"score":${route.score},"components":{"edges":{"score":${edges}}${ofAsset}},"caps":[${caps}],"hops":[`
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
