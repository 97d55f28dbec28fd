/** What a benchmark hands to the harness. */

/** One side of a row. */
export type Contender = {
  readonly name: string
  readonly run: () => unknown
  /** Operations per call of `run`. */
  readonly operations: number
  /** The time of the last `run` where wall time would include more than the work, e.g. starting a process. */
  readonly measuredNs?: () => number
}

/** One row: `ours` against a peer or limit measured in the same interleaved run. */
export type Benchmark = {
  readonly name: string
  readonly unit: string
  /** Ratio = speed of ours / speed of the peer. */
  readonly goal: { readonly ratio: number; readonly sense: 'at least' | 'at most' }
  readonly ours: Contender
  /** `absent` says why the peer cannot run on this machine; the row is then printed and does not fail. */
  readonly peer: Contender | { readonly absent: string }
  /** Proves that both give the same answer and throws otherwise. */
  readonly check?: () => void
}
