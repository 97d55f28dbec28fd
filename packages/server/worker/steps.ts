/**
 * The steps of a chain: every input is one step of the engine and one commit, in order, and only then is anything of the
 * step visible to anyone. The engine's next timer is an input like others.
 *
 * A commit that fails leaves the state ahead of the store, so nothing may follow it.
 */
import { type Input, ms, type State, step, type StepResult } from '@assay/engine'
import type { Clock } from '../ops/clock.ts'
import type { ChainStore, Sequence } from '../store/port.ts'
import { commitOf, type Stored } from './commitOf.ts'
import { Lane } from './lane.ts'

export type StepsOptions = {
  readonly state: State
  /** What the store has already. */
  readonly stored: Stored
  readonly store: Pick<ChainStore, 'commit'>
  readonly clock: Clock
  /** The engine's, if nobody stands before it. */
  readonly step?: typeof step | undefined
  readonly onCommitted: (last: Sequence, result: StepResult) => void
  readonly onFailure: (failure: unknown) => void
  /** After it nothing new begins. */
  readonly signal: AbortSignal
}

/** The longest wait for a timer; a longer one is asked for again. */
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

  /** In turn with all other steps. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#lane.run(task)
  }

  /** Between two blocks. What waited for a node meanwhile may come back after the end. */
  runUntilEnd<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#lane.run(() => {
      this.#options.signal.throwIfAborted()
      return task()
    })
  }

  /** Only inside the queue. A failed step ends the host of the chain, regardless of the caller. */
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

  /** Resolves when everything begun so far is committed. */
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
