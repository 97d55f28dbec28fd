/**
 * The published state of a token equals its present evaluation. Only two things may delay it:
 *
 * - Depth that still climbs. The engine evaluates it again once a minute, so until then the token, and the tokens
 *   priced through it, may differ by one minute's change.
 * - An anchor that has moved by less than the threshold for publishing a price again (R-publish-6). Then a score or a
 *   cap may differ, but never a state, and the number of such cases is counted.
 */
import { type Address, type EntityKey, type Input, poolsOf, type State } from '../../packages/engine/index.ts'
import { type Fraction, approx } from '../../packages/engine/exact/fraction.ts'
import { isFull } from '../../packages/engine/rules/depthAverage.ts'
import { CLIMBING_MS } from '../../packages/engine/rules/hopCapacity.ts'
import { evaluate, valueAssets } from '../../packages/engine/price/evaluate.ts'
import type { Evaluation } from '../../packages/engine/price/evaluation.ts'
import type { Moment } from '../../packages/engine/price/moment.ts'
import { momentOf } from '../../packages/engine/price/momentOf.ts'
import { hasMoved } from '../../packages/engine/memory/moveWatch.ts'
import type { Pool, Token } from '../../packages/engine/entities.ts'
import type { Verdict } from './verdict.ts'

type Anchors = ReadonlyMap<Address, Evaluation>

export class PublishedPrices {
  readonly #state: State
  readonly #verdict: Verdict
  /** Tokens that already differ; null until the state was seen for the first time. */
  #left: ReadonlySet<Address> | null = null
  /** The view of each anchor at the last check. */
  #said: ReadonlyMap<Address, string> = new Map()

  constructor(state: State, verdict: Verdict) {
    this.#state = state
    this.#verdict = verdict
  }

  check(input: Input, changed: readonly EntityKey[]): void {
    const state = this.#state
    // In a gap no token is evaluated.
    if (state.chain.tip === null || state.chain.health?.status === 'GAP') return
    const moment = momentOf(state, input.atMs)
    valueAssets(moment)
    const anchors = anchorsAt(moment)
    const said = new Map(
      [...anchors].map(([anchor, evaluation]) => [anchor, wordsOf(moment, anchor, evaluation)]),
    )
    const moved = reaching(state, anchors, anchor => said.get(anchor) !== this.#said.get(anchor))
    const waiting = reaching(state, anchors, anchor => {
      const [token, now] = [state.tokens.get(anchor), anchors.get(anchor) as Evaluation]
      return token !== undefined && isPast(state, token, now) && isClimbingSoon(moment, token, now)
    })
    const left = new Set<Address>()
    for (const token of state.tokens.values()) {
      const { address, published, dormant, dueMs } = token
      if (published === null || dormant !== null) continue
      const isOverdue = dueMs !== null && dueMs <= input.atMs
      this.#verdict.check(
        'prices',
        !isOverdue,
        () => `token ${address}, due at ${dueMs}, is not looked at by ${input.atMs}`,
      )
      const now = anchors.get(address) ?? evaluate(moment, address)
      const [was, is] = [publishedAs(token), evaluatedAs(now)]
      if (was === is || isClimbingSoon(moment, token, now) || isThrough(state, address, waiting)) continue
      left.add(address)
      const isNew = this.#left !== null && !this.#left.has(address)
      if (isNew) this.#verdict.leftBehind += 1
      const isOwn = poolsOf(state, address).some(pool => changed.includes(`pool/${pool.address}`))
      const isByAnchor = !isNew || (isThrough(state, address, moved) && !isOwn)
      this.#verdict.check(
        'prices',
        isByAnchor && isPriced(was) && isPriced(is) && !hasAnchorMoved(moment, anchors, token),
        () =>
          `token ${address} of chain ${state.setup.chainId}, step ${state.chain.steps} (${input.kind}): published ${was}, now ${is}`,
      )
    }
    this.#left = left
    this.#said = said
  }
}

function anchorsAt(moment: Moment): Anchors {
  const { setup } = moment.state
  return new Map([
    ...setup.stables.map(({ token }) => [token, evaluate(moment, token)] as const),
    ...[...moment.valuations].map(([asset, { evaluation }]) => [asset, evaluation] as const),
  ])
}

/**
 * The anchors for which the condition holds, and those priced through one of them: each continues to the anchors
 * before it.
 */
function reaching(state: State, anchors: Anchors, holds: (anchor: Address) => boolean): ReadonlySet<Address> {
  const reached = new Set<Address>()
  for (const anchor of anchors.keys())
    if (holds(anchor) || isThrough(state, anchor, reached)) reached.add(anchor)
  return reached
}

const isThrough = (state: State, token: Address, anchors: ReadonlySet<Address>): boolean =>
  poolsOf(state, token).some(({ to }) => anchors.has(to))

/** The state of an anchor has changed since its last evaluation. */
const isPast = ({ chain }: State, token: Token, now: Evaluation): boolean =>
  publishedAs(token) !== evaluatedAs(now) ||
  (now.kind === 'PRICED' && chain.anchorUsd[token.address] !== approx(now.price))

/** It is evaluated again within a minute because of depth that still climbs. */
function isClimbingSoon(moment: Moment, token: Token, now: Evaluation): boolean {
  const { dueMs } = token
  if (dueMs === null || dueMs - moment.atMs > CLIMBING_MS) return false
  return (
    poolsOf(moment.state, token.address).some(isRising) ||
    now.routes.some(({ edges }) => edges.some(({ pool }) => isRising(pool)))
  )
}

const isRising = ({ state: { average } }: Pool): boolean => average !== null && !isFull(average)

/** Everything that other tokens use, except its depth. */
function wordsOf(moment: Moment, anchor: Address, evaluation: Evaluation): string {
  if (evaluation.kind === 'UNPRICED') return evaluation.reason
  const onward = moment.valuations.get(anchor)?.onward ?? []
  const routes = onward.map(({ route: { id, price } }) => `${id} ${price?.num}/${price?.den}`)
  return [`${evaluation.price.num}/${evaluation.price.den}`, ...routes.sort()].join(' ')
}

/**
 * It moved by at least the threshold for publishing again: then it must not be left behind, unless it has to wait for
 * its turn.
 */
function hasAnchorMoved(moment: Moment, anchors: Anchors, { published, isDeferred }: Token): boolean {
  if (isDeferred) return false
  const bps = BigInt(moment.policy.republish.move_bps)
  return (published?.references ?? []).some(({ anchor, marginalUsd }) => {
    const now = marginalOf(anchors.get(anchor))
    return now !== null && hasMoved(marginalUsd, now, bps)
  })
}

const marginalOf = (evaluation: Evaluation | undefined): Fraction | null =>
  evaluation?.kind === 'PRICED' ? evaluation.marginalUsd : null

function publishedAs({ published }: Token): string {
  if (published === null) return 'nothing'
  const { compact } = published
  return compact.state === 'PRICED'
    ? JSON.stringify([compact.confidence.score, compact.confidence.caps])
    : compact.reason
}

const evaluatedAs = (evaluation: Evaluation): string =>
  evaluation.kind === 'PRICED' ? JSON.stringify([evaluation.score, evaluation.caps]) : evaluation.reason

const isPriced = (text: string): boolean => text.startsWith('[')
