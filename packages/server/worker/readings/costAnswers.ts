/**
 * Answers to "what would it cost to fake this price?". One takes about a second of the chain's thread, so they are
 * computed one at a time and move by move: a block waits for one move at most. An answer that its caller no longer
 * waits for is not begun.
 */
import { setImmediate } from 'node:timers/promises'
import { computeCost, type Input, type State } from '@assay/engine'
import type { Address } from '../../ops/hex.ts'
import type { Sequence } from '../../store/port.ts'
import type { CostAnswer } from '../chainService.ts'
import { stampedText } from './stamped.ts'

export type CostContext = {
  readonly state: State
  readonly inLane: <Result>(task: () => Promise<Result>) => Promise<Result>
  readonly now: () => Input['atMs']
  readonly lastSequence: () => Sequence
}

export class CostAnswers {
  readonly #context: CostContext
  #previous: Promise<unknown> = Promise.resolve()

  constructor(context: CostContext) {
    this.#context = context
  }

  answer(token: Address, deadlineMs: number): Promise<CostAnswer> {
    const { now } = this.#context
    const untilMs = now() + deadlineMs
    const answer = this.#previous.then(() =>
      now() > untilMs ? ({ outcome: 'too_late' } as const) : this.#compute(token),
    )
    this.#previous = answer.catch(() => undefined)
    return answer
  }

  /** Starts in the lane with a copy of the state; the rest alternates with the chain's blocks. */
  async #compute(token: Address): Promise<CostAnswer> {
    const { state, inLane, now, lastSequence } = this.#context
    const begun = await inLane(async () => {
      if ((state.tokens.get(token)?.published ?? null) === null) return { outcome: 'not_enrolled' } as const
      return { ...computeCost(state, token, now()), sequence: lastSequence() }
    })
    if (begun.outcome !== 'cost') return begun
    const moves: object[] = []
    for (const move of begun.moves) {
      moves.push(move)
      await setImmediate()
    }
    return { outcome: 'cost', cost: stampedText({ ...begun.head, moves }, begun.sequence) }
  }
}
