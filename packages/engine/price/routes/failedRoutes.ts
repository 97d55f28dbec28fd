/**
 * The failed candidates of a token, each with its reason. Most are never read, so candidates that failed at their
 * first hop are stored as that hop until someone reads them.
 */
import { Candidate } from './candidate.ts'
import type { Route } from '../evaluation.ts'
import type { Moment } from '../moment.ts'
import type { OwnHops } from '../hops/ownHops.ts'
import type { Failure } from '../../rules/reasons.ts'
import { byCapacity } from './routes.ts'

/** The most failed routes kept. */
const MAX_SHOWN = 16

export class FailedRoutes {
  readonly #moment: Moment
  readonly #found: readonly Route[]
  readonly #own: OwnHops
  #all: readonly Route[] | null = null

  constructor(moment: Moment, found: readonly Route[], own: OwnHops) {
    this.#moment = moment
    this.#found = found
    this.#own = own
  }

  /** At most MAX_SHOWN failed routes, those closest to a price first. */
  get nearest(): readonly Route[] {
    this.#all ??= [...this.#found, ...this.#ofHops()].sort(byCapacity).slice(0, MAX_SHOWN)
    return this.#all
  }

  #ofHops(): Route[] {
    const { excluded } = this.#moment
    return this.#own.edges
      .filter(({ rule, pool }) => rule !== null && !excluded.has(pool.address))
      .map(edge => Candidate.dead(edge, [], edge.failure as Failure))
  }
}
