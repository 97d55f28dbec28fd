/**
 * The steps of a chain: every input is one step of the engine and one commit, in order, and only then is any effect of
 * the step visible. The engine's next timer is an input too. A failed commit leaves the state ahead of the store, so no
 * step may follow it.
 */
import { type Input, ms, type State, step, type StepResult } from '@assay/engine'
import type { Clock } from '../ops/clock.ts'
import type { ChainStore, Sequence } from '../store/port.ts'
import { commitOf, type Stored } from './commitOf.ts'
import { Lane } from './lane.ts'

export type StepsOptions = {
  readonly state: State
  /** What the store already contains. */
  readonly stored: Stored
  readonly store: Pick<ChainStore, 'commit'>
  readonly clock: Clock
  /** Wraps the engine's step, for example to time it; left out, the engine's own. */
  readonly step?: typeof step | undefined
  readonly onCommitted: (last: Sequence, result: StepResult) => void
  readonly onFailure: (failure: unknown) => void
  /** Once aborted, no new step begins. */
  readonly signal: AbortSignal
}

/** The longest single timer; a longer wait is split. */
const MAX_TIMER_MS = 60_000

export class Steps {
  readonly #options: StepsOptions
  readonly #lane = new Lane()
  #timer: NodeJS.Timeout | null = null
  #lastSequence: Sequence = 0

  constructor(options: StepsOptions) {
    this.#options = options
  }

  get lastSequence(): Sequence {
    return this.#lastSequence
  }

  now() {
    return ms(this.#options.clock.nowMs())
  }

  /** Runs the task in order with all other steps. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#lane.run(task)
  }

  /**
   * Runs the task between two blocks. Rejects once the chain has ended, which may happen while a reading is under way.
   */
  runUntilEnd<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#lane.run(() => {
      this.#options.signal.throwIfAborted()
      return task()
    })
  }

  /** Call only inside the lane. A failed step ends the host of the chain, whatever the caller does. */
  async apply(input: Input): Promise<StepResult> {
    try {
      return await this.#commit(input)
    } catch (failure) {
      this.#options.onFailure(failure)
      throw failure
    }
  }

  stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** Resolves when every step begun so far is committed. */
  idle(): Promise<void> {
    return this.#lane.idle()
  }

  async #commit(input: Input): Promise<StepResult> {
    const { state, stored, store, onCommitted } = this.#options
    const before = { tipHash: state.chain.tip?.hash ?? null }
    const result = (this.#options.step ?? step)(state, input)
    const outcome = await store.commit(commitOf(state, input, result, before, stored))
    if (outcome.outcome === 'conflict')
      throw new Error(
        `chain ${state.setup.chainId}: step ${state.chain.steps} does not follow the stored step ${outcome.storedStep}; another writer is at work`,
      )
    this.#lastSequence = outcome.last
    onCommitted(outcome.last, result)
    this.#schedule(result.nextTimerMs)
    return result
  }

  #schedule(nextMs: number | null): void {
    this.stopTimer()
    const { clock, signal, onFailure } = this.#options
    if (nextMs === null || signal.aborted) return
    const waitMs = Math.min(Math.max(nextMs - clock.nowMs(), 0), MAX_TIMER_MS)
    this.#timer = setTimeout(() => {
      this.run(() => this.apply({ kind: 'timer', atMs: this.now() })).catch(onFailure)
    }, waitMs)
  }
}
