/**
 * From a vote to a priced evaluation: materiality, agreement, the aggregate state, active caps, and the published
 * score as the minimum of them all.
 */
import type { Address } from '../../chain/block.ts'
import * as ratio from '../../exact/ratio.ts'
import type { Fraction } from '../../exact/fraction.ts'
import type { Ratio } from '../../exact/ratio.ts'
import { count, type Ms, ms, score, type Score, soonest, weaker } from '../../units.ts'
import { anchorRoutes } from '../hops/anchors.ts'
import type { Candidate } from '../routes/candidate.ts'
import type { Priced, Route, StableView } from '../evaluation.ts'
import type { FailedRoutes } from '../routes/failedRoutes.ts'
import { type Moment, tipOf } from '../moment.ts'
import type { OwnHops } from '../hops/ownHops.ts'
import { type Vote, weightByFirst } from '../vote/observations.ts'
import { assetFeed } from './assetFeed.ts'
import { CLIMBING_MS } from '../../rules/hopCapacity.ts'
import { aggregateState } from '../../rules/aggregateState.ts'
import { expiryOf } from '../../rules/expiry.ts'
import { markMaterial, materialHops } from '../../rules/materialRoutes.ts'
import { activeCaps, publishedScore } from '../../rules/publishedScore.ts'
import type { OwnPast } from '../../rules/priceJump.ts'
import type { Cap } from '../../rules/reasons.ts'
import { sellabilityCap } from '../../rules/sellability.ts'
import { earlier, FOREVER } from '../../rules/timed.ts'
import { marginalUsdOf } from '../routes/routes.ts'
import { dissentAt } from './dissentAt.ts'
import { ownPastOf, pastCap } from './ownPast.ts'
import { sellabilityOf } from './sellabilityOf.ts'
import { agreementOf } from './pathAgreement.ts'

export function pricedFrom(
  moment: Moment,
  token: Address,
  own: OwnHops,
  { observations, dust, verdict, claimed, byFirst }: Vote,
  failed: FailedRoutes,
): Priced {
  const { policy } = moment
  const selectedObservation = observations[verdict.selected] as Candidate
  const isUnanimous = verdict.survivors.length === observations.length
  const accepted = isUnanimous ? observations : observations.filter((_, at) => verdict.rejected[at] !== true)
  const rejected = isUnanimous ? [] : observations.filter((_, at) => verdict.rejected[at] === true)
  const isWhole = isUnanimous && dust.length === 0
  const weights = isWhole ? byFirst : weightByFirst(accepted)
  const hops = materialHops(policy, weights, verdict.keptWeight, ({ pool }) => pool.id)
  markMaterial(policy, accepted, hops, selectedObservation)
  for (const route of rejected) route.exclusion = 'OUTLIER'
  const isAsset = moment.state.setup.routingAssets.includes(token)
  const covered = isAsset ? anchorRoutes(moment, token, accepted) : { value: accepted, untilMs: FOREVER }
  const routes: readonly Route[] = covered.value
  const selected = routes[accepted.indexOf(selectedObservation)] as Route
  const others: readonly Route[] = isWhole ? [] : [...rejected, ...dust]
  const agreement = agreementOf(policy, verdict, hops, routes, others, selected)
  const dissenting = dissentAt(moment, observations, dust, byFirst, selected)
  const material = routes.filter(route => route.material)
  const components = {
    path_agreement: agreement,
    material_routes: {
      score: material.reduce<Score>((least, route) => weaker(least, route.score), score(10)),
      routes: count(material.length),
    },
    aggregate_state: { score: aggregateState(moment.feed.score, routes) },
  }
  const feed = assetFeed(moment, token, () => marginalUsdOf(selected))
  const jump = pastCap(moment, token, selected, feed.value?.isNear ?? false)
  const sellability = sellabilityOf(moment, token)
  const sold = sellability === null ? null : sellabilityCap(sellability, policy)
  const caps = activeCaps(
    [capsOf(sold), agreement.caps, capsOf(dissenting.value), capsOf(feed.value?.cap), capsOf(jump.value)],
    material,
  )
  const claimedUntilMs = claimsUntil(moment, observations, dust, claimed)
  const untilMs = [claimedUntilMs, dissenting.untilMs, feed.untilMs, jump.untilMs].reduce(
    earlier,
    covered.untilMs,
  )
  return new PricedToken(moment, token, selected, isAsset, {
    score: publishedScore(
      [components.path_agreement.score, components.material_routes.score, components.aggregate_state.score],
      caps,
    ),
    caps,
    components,
    support: {
      low: (observations[verdict.low] as Route).price as Fraction,
      high: (observations[verdict.high] as Route).price as Fraction,
      accepted: count(routes.length),
      rejected: count(rejected.length),
      retainedBps: agreement.retainedBps,
      tauBps: verdict.tauBps,
      madBps: verdict.madBps,
    },
    routes: isWhole ? routes : [...routes, ...others],
    failed,
    usdFeed: feed.value,
    sellability,
    expiresAtMs: expiryOf(routes),
    dueMs: untilMs === FOREVER ? own.dueMs : soonest(own.dueMs, untilMs),
    own,
  })
}

type Exact = 'price' | 'marginalUsd' | 'ownPast'
type Selected = 'kind' | 'token' | 'atMs' | 'asOf' | 'selected' | 'stable'

/**
 * A priced evaluation. Reducing the price takes as long as finding its route, and for many evaluations nothing reads
 * it, so each exact value is computed on first use. The fields are assigned one by one, because `Object.assign` takes
 * several times as long.
 */
class PricedToken implements Priced {
  readonly kind = 'PRICED'
  readonly token: Address
  readonly atMs: Ms
  readonly asOf: Priced['asOf']
  readonly selected: Route
  readonly stable: StableView
  readonly score: Score
  readonly caps: readonly Cap[]
  readonly components: Priced['components']
  readonly support: Priced['support']
  readonly routes: readonly Route[]
  readonly failed: Priced['failed']
  readonly usdFeed: Priced['usdFeed']
  readonly sellability: Priced['sellability']
  readonly expiresAtMs: Ms | null
  readonly dueMs: Ms | null
  readonly own: Priced['own']
  readonly #moment: Moment
  readonly #isAsset: boolean
  #price: Ratio | null = null
  #marginalUsd: Fraction | null = null
  #ownPast: OwnPast | null | undefined

  constructor(
    moment: Moment,
    token: Address,
    selected: Route,
    isAsset: boolean,
    found: Omit<Priced, Exact | Selected>,
  ) {
    this.token = token
    this.atMs = moment.atMs
    this.asOf = tipOf(moment)
    this.selected = selected
    this.stable = selected.stable as StableView
    this.score = found.score
    this.caps = found.caps
    this.components = found.components
    this.support = found.support
    this.routes = found.routes
    this.failed = found.failed
    this.usdFeed = found.usdFeed
    this.sellability = found.sellability
    this.expiresAtMs = found.expiresAtMs
    this.dueMs = found.dueMs
    this.own = found.own
    this.#moment = moment
    this.#isAsset = isAsset
  }

  get price(): Ratio {
    this.#price ??= ratio.reduced(this.selected.price as Fraction)
    return this.#price
  }

  /** The marginal of an asset is kept and compared repeatedly, so it is reduced. */
  get marginalUsd(): Fraction {
    const { selected } = this
    this.#marginalUsd ??= this.#isAsset ? ratio.reduced(marginalUsdOf(selected)) : marginalUsdOf(selected)
    return this.#marginalUsd
  }

  get ownPast(): OwnPast | null {
    if (this.#ownPast === undefined) this.#ownPast = ownPastOf(this.#moment, this.token, this.selected)
    return this.#ownPast
  }
}

const capsOf = (cap: Cap | null | undefined): readonly Cap[] => (cap == null ? [] : [cap])

/**
 * Until when the weights of the routes stay the same although depth behind their first hops still climbs. Only a
 * capacity that the total claim exceeds can affect the weights.
 */
function claimsUntil(
  { atMs }: Moment,
  observations: readonly Route[],
  dust: readonly Route[],
  claimed: bigint,
): Ms {
  const isBinding = ({ via }: Route) => via !== null && via.isClimbing && via.route.capacity <= claimed
  return observations.some(isBinding) || dust.some(isBinding) ? ms(atMs + CLIMBING_MS) : FOREVER
}
