/**
 * Quotes computed for one caller at the tip: narrowed ones, pools requested by address, and states that the caller
 * wants verified again. State they need is read beside the lane; only the evaluation runs in it.
 */
import {
  computeExit,
  computePoolQuote,
  computeTokenQuote,
  count,
  type Pool,
  poolsOf,
  verifiedAt,
} from '@assay/engine'
import { isFeedError } from '../../feed/feedError.ts'
import { BudgetSpent } from '../../market/callBudget.ts'
import type { Address } from '../../ops/hex.ts'
import type {
  CostAnswer,
  Narrowing,
  PoolAnswer,
  SaleAnswer,
  SaleSizes,
  TokenAnswer,
  Unread,
} from '../chainService.ts'
import { CostAnswers, type CostContext } from './costAnswers.ts'
import type { Enrolments } from './enrolments.ts'
import type { Intake } from './intake.ts'
import { stampedText } from './stamped.ts'

type QuoteContext = CostContext & {
  readonly intake: Intake
  readonly enrolments: Pick<Enrolments, 'within' | 'lookUpPool'>
}

/** The longest any request may take: a reading that no caller can still wait for is aborted. */
const VERIFY_MS = 10_000

export class ComputedQuotes {
  readonly #context: QuoteContext
  readonly #costs: CostAnswers

  constructor(context: QuoteContext) {
    this.#context = context
    this.#costs = new CostAnswers(context)
  }

  async token(
    token: Address,
    narrowing: Narrowing | null,
    isVerifiedAnew: boolean,
    consumer: string,
  ): Promise<TokenAnswer> {
    const { state, inLane, now } = this.#context
    const isPublished = () => (state.tokens.get(token)?.published ?? null) !== null
    if (!isPublished()) return { outcome: 'not_enrolled' }
    const unread = isVerifiedAnew ? await this.#verifyAnew(poolsOf(state, token), consumer) : null
    if (unread !== null) return unread
    return inLane(async () => {
      if (!isPublished()) return { outcome: 'not_enrolled' }
      const asked =
        narrowing === null
          ? null
          : {
              maxHops: narrowing.maxHops === null ? null : count(narrowing.maxHops),
              minDepthUsd: narrowing.minDepthUsd === null ? null : count(narrowing.minDepthUsd),
              excludePools: narrowing.excludePools as readonly Address[],
            }
      return {
        outcome: 'quote',
        quote: this.#stamped(computeTokenQuote(state, token, now(), asked)),
      }
    })
  }

  async pool(
    pool: Address,
    deadlineMs: number,
    maxAgeMs: number | null,
    consumer: string,
  ): Promise<PoolAnswer> {
    const { state, enrolments, inLane, now } = this.#context
    if (!state.pools.has(pool)) {
      const found = await enrolments.lookUpPool(pool, deadlineMs, consumer)
      if (found.outcome !== 'quote') return found
    }
    const known = state.pools.get(pool)
    if (known === undefined) return { outcome: 'not_a_pool' }
    const verifiedMs = verifiedAt(state.chain.proven, known.state)
    if (maxAgeMs !== null && now() - verifiedMs > maxAgeMs) {
      const unread = await this.#verifyAnew([known], consumer)
      if (unread !== null) return unread
    }
    return inLane(async () => {
      const there = state.pools.get(pool)
      if (there === undefined) return { outcome: 'not_a_pool' }
      const answer = computePoolQuote(state, there, now())
      return answer.outcome === 'no_route' ? answer : { outcome: 'quote', quote: this.#stamped(answer.quote) }
    })
  }

  exit(token: Address, sizes: SaleSizes): Promise<SaleAnswer> {
    const { state, inLane, now } = this.#context
    return inLane(async () => {
      if ((state.tokens.get(token)?.published ?? null) === null) return { outcome: 'not_enrolled' }
      const asked = { in: sizes.in, values: sizes.values.map(BigInt) }
      const answer = computeExit(state, token, now(), asked)
      return answer.outcome === 'exit' ? { outcome: 'exit', exit: this.#stamped(answer.exit) } : answer
    })
  }

  cost(token: Address, deadlineMs: number): Promise<CostAnswer> {
    return this.#costs.answer(token, deadlineMs)
  }

  /** Reads these pools again, with the pools that price them in dollars; returns why that failed, or null. */
  async #verifyAnew(pools: readonly Pool[], consumer: string): Promise<Unread | null> {
    const { state, enrolments, intake } = this.#context
    const anchors = state.setup.routingAssets.flatMap(asset => poolsOf(state, asset))
    try {
      const means = enrolments.within(VERIFY_MS, consumer)
      await intake.recheck([...new Set([...pools, ...anchors])], means)
      return null
    } catch (failure) {
      if (failure instanceof BudgetSpent)
        return { outcome: 'budget_exceeded', retryAfterMs: failure.retryAfterMs }
      if (isFeedError(failure)) return { outcome: 'rpc_unavailable', reason: failure.message }
      throw failure
    }
  }

  /** Adds the sequence of the underlying commit to a computed answer and to every quote inside it. */
  #stamped(quote: object): string {
    return stampedText(quote, this.#context.lastSequence())
  }
}
