/**
 * Tokens that were enrolled on demand and have not been requested for a while: they become dormant, and wake at the
 * next request (R-find-4). Tokens of the configuration, anchors and an operator's own tokens stay.
 */
import { type Input, ms, type State, type StepResult } from '@assay/engine'
import type { Clock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Address } from '../../ops/hex.ts'
import type { OperatorStore } from '../../store/operator.ts'

export type DormancyContext = {
  readonly chain: Pick<ChainConfig, 'chainId' | 'tokens' | 'routingAssets' | 'stables'>
  readonly state: State
  readonly store: Pick<OperatorStore, 'readIdle'>
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<StepResult>
  readonly clock: Clock
}

const IDLE_MS = 7 * 86_400_000
/** Interval between checks; dormancy is counted in days. */
const LOOK_MS = 600_000
/** Limit per check: the rest follows at the next one. */
const MOST = 100

export class Dormancy {
  readonly #context: DormancyContext
  readonly #kept: ReadonlySet<string>
  #lookAtMs = Number.NEGATIVE_INFINITY

  constructor(context: DormancyContext) {
    const { tokens, routingAssets, stables } = context.chain
    this.#context = context
    this.#kept = new Set([...tokens, ...routingAssets, ...stables.map(({ tokenAddress }) => tokenAddress)])
  }

  /** Call only inside the lane. */
  async tend(): Promise<void> {
    const { chain, clock, store, apply, state } = this.#context
    if (clock.monotonicMs() < this.#lookAtMs) return
    this.#lookAtMs = clock.monotonicMs() + LOOK_MS
    const idle = await store.readIdle(chain.chainId, clock.nowMs() - IDLE_MS)
    const enrolled = idle.filter(
      token => !this.#kept.has(token) && (state.tokens.get(token as Address)?.enrolledAtMs ?? null) !== null,
    )
    for (const token of enrolled.slice(0, MOST))
      await apply({ kind: 'unenrol', token: token as Address, reason: 'DORMANT', atMs: ms(clock.nowMs()) })
  }
}
