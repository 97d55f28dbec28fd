/** The interface between a benchmark and the harness. */

/** One side of a row. */
export type Contender = {
  readonly name: string
  /** May return a promise; it is then awaited, and the wait is part of the time. */
  readonly run: () => unknown
  /** Operations per call of `run`. */
  readonly operations: number
  /** The time of the last `run`, when wall time would include more than the work, e.g. starting a process. */
  readonly measuredNs?: () => number
  /** Calls per round, when they are long and `prepare` has warmed up; otherwise the harness warms up and decides. */
  readonly calls?: number
  /** The result of the last `run` when it is not a time, e.g. bytes; only against a limit. */
  readonly figure?: () => number
}

/** One row: `ours` against a peer or limit measured in the same interleaved run. */
export type Benchmark = {
  readonly name: string
  readonly unit: string
  /**
   * `at least`: ratio = our speed / the peer's speed. `at most`: ratio = our cost / the peer's cost. Against a limit:
   * our figure, or otherwise our operations per second, over the limit.
   */
  readonly goal: { readonly ratio: number; readonly sense: 'at least' | 'at most' }
  readonly ours: Contender
  /** Proves that both give the same answer and throws otherwise. Runs before any measurement. */
  readonly check?: () => unknown
  /** Builds data too large to build for a row that is not requested; runs before `check`. May return a promise. */
  readonly prepare?: () => unknown
  /** Releases it. */
  readonly close?: () => unknown
  /** Printed after the measurement, under the row. */
  readonly notes?: () => readonly string[]
  /** The most measurements of each side; the harness has a default. */
  readonly rounds?: number
} & (
  | {
      /** `absent` states why the peer cannot run on this machine; the row is printed and does not fail. */
      readonly peer: Contender | { readonly absent: string }
      readonly limit?: never
    }
  | { readonly limit: Limit; readonly peer?: never }
)

/** A fixed number instead of a peer. */
export type Limit = { readonly value: number; readonly unit: 'per second' | 'bytes' }
