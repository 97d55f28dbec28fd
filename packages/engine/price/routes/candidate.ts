/**
 * A candidate route while its token is evaluated. The exact price and the list of hops, which most candidates never
 * need, are computed on demand; until then floating point decides where it can.
 */
import { bitsOf } from '../../exact/bits.ts'
import type { Fraction } from '../../exact/fraction.ts'
import * as fraction from '../../exact/fraction.ts'
import { asApprox, type Count, count, type Approx, score, type Score, weaker } from '../../units.ts'
import type { Edge, Onward, Route, RouteDraft, StableView } from '../evaluation.ts'
import type { Exclusion, Failure } from '../../rules/reasons.ts'

const NOWHERE = asApprox(Number.NaN)

export class Candidate implements RouteDraft {
  readonly first: Edge
  readonly stable: StableView | null
  readonly via: Onward | null
  readonly approx: Approx
  /** For a failed candidate, the capacity of its first hop. */
  readonly capacity: bigint
  /** An upper bound for the bit length of either side of the price. */
  readonly bits: Count
  weight = 0n
  failure: Failure | null = null
  exclusion: Exclusion | null = null
  material = false
  readonly #rest: readonly Edge[]
  #id: string | null = null
  #edges: readonly Edge[] | null = null
  #price: Fraction | null = null

  private constructor(
    first: Edge,
    rest: readonly Edge[],
    stable: StableView | null,
    via: Onward | null,
    approx: Approx,
    bits: Count,
    capacity = first.capacity ?? 0n,
  ) {
    this.first = first
    this.#rest = rest
    this.stable = stable
    this.via = via
    this.approx = approx
    this.bits = bits
    this.capacity = capacity
  }

  static toStable(edge: Edge, stable: StableView): Candidate {
    const approx = fraction.approxProduct(edge.derived.approx, fraction.approx(stable.usd))
    const bits = count(edge.derived.bits + bitsOf(stable.usd))
    return new Candidate(edge, NOTHING, stable, null, approx, bits)
  }

  static through(edge: Edge, via: Onward): Candidate {
    const { route } = via
    const own = edge.capacity ?? 0n
    return new Candidate(
      edge,
      route.edges,
      route.stable,
      via,
      fraction.approxProduct(edge.derived.approx, route.approx),
      count(edge.derived.bits + via.bits),
      own < route.capacity ? own : route.capacity,
    )
  }

  /** A route that failed before it had a price. */
  static dead(first: Edge, rest: readonly Edge[], failure: Failure): Candidate {
    const candidate = new Candidate(first, rest, null, null, NOWHERE, count(0))
    candidate.failure = failure
    return candidate
  }

  get id(): string {
    const { pool } = this.first
    if (this.#rest.length === 0) return pool.id
    this.#id ??= `${pool.id}-${this.via?.route.id ?? this.#rest.map(edge => edge.pool.id).join('-')}`
    return this.#id
  }

  get edges(): readonly Edge[] {
    this.#edges ??= [this.first, ...this.#rest]
    return this.#edges
  }

  get price(): Fraction | null {
    this.#price ??= this.#alongRoute()
    return this.#price
  }

  /** The weakest link: a hop, or the asset the route continues from. */
  get score(): Score {
    const { first, stable, via } = this
    if (stable === null) return score(0)
    return via === null ? first.score : weaker(first.score, via.score)
  }

  /** Origin of the observation, used to judge independence. */
  get source(): Edge['pool'] {
    return this.first.pool
  }

  #alongRoute(): Fraction | null {
    const onward = this.via === null ? this.stable?.usd : this.via.route.price
    return onward == null ? null : fraction.times(this.first.derived.ratio as Fraction, onward)
  }
}

const NOTHING: readonly Edge[] = []

/** Copied field by field, because spreading a candidate would drop its accessors. */
export const settledRoute = (route: Route): Route => ({
  id: route.id,
  first: route.first,
  edges: route.edges,
  stable: route.stable,
  via: route.via,
  price: route.price,
  approx: route.approx,
  capacity: route.capacity,
  weight: route.weight,
  score: route.score,
  failure: route.failure,
  exclusion: route.exclusion,
  material: route.material,
})
