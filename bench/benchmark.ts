/** What a benchmark hands to the harness. */

/** One side of a row. */
export type Contender = {
  readonly name: string
  /** May return a promise; it is then awaited, and the waiting is part of the time. */
  readonly run: () => unknown
  /** Operations per call of `run`. */
  readonly operations: number
  /** The time of the last `run` where wall time would include more than the work, e.g. starting a process. */
  readonly measuredNs?: () => number
  /** Calls in a round where they are long and `prepare` has warmed up; else the harness warms up and finds out. */
  readonly calls?: number
  /** What the last `run` found where that is no time, e.g. bytes; only against a limit. */
  readonly figure?: () => number
}

/** One row: `ours` against a peer or limit measured in the same interleaved run. */
export type Benchmark = {
  readonly name: string
  readonly unit: string
  /**
   * `at least`: ratio = speed of ours / speed of the peer. `at most`: ratio = cost of ours / cost of the peer.
   * Against a limit: our figure, or else our operations per second, over the limit.
   */
  readonly goal: { readonly ratio: number; readonly sense: 'at least' | 'at most' }
  readonly ours: Contender
  /** Proves that both give the same answer and throws otherwise. Before anything is measured. */
  readonly check?: () => unknown
  /** Builds what is too large to build for a row nobody asked for; before `check`. May return a promise. */
  readonly prepare?: () => unknown
  /** Lets go of it. */
  readonly close?: () => unknown
  /** Told after measuring, under the row. */
  readonly notes?: () => readonly string[]
  /** Each side is measured at most so often; the harness has a default. */
  readonly rounds?: number
} & (
  | {
      /** `absent` says why the peer cannot run on this machine; the row is printed and does not fail. */
      readonly peer: Contender | { readonly absent: string }
      readonly limit?: never
    }
  | { readonly limit: Limit; readonly peer?: never }
)

/** A fixed number instead of a peer. */
export type Limit = { readonly value: number; readonly unit: 'per second' | 'bytes' }
