/** What a run of `npm run soak:chains` shows: the lag of each chain, memory and processor time, and the faults in them. */
import { quantile } from '../../bench/harness.ts'

/** Every ten seconds. Cores are seconds of processor time per second since the last one. */
export type Sample = { readonly mib: number; readonly serviceCores: number; readonly nodeCores: number }
export type ChainLag = { readonly chainId: number; readonly latenciesMs: readonly number[] }
export type Verdict = { readonly lines: readonly string[]; readonly faults: readonly string[] }

/** From a block's announcement to its records. */
const P99_MS = 250
/** With fewer swaps, a 99th percentile says nothing. */
const LEAST_SWAPS = 200
/** The growth of the last quarter over the second, by which everything has been used once: collection is not exact. */
const GROWTH = { share: 0.1, mib: 24 } as const

export function verdictOf(chains: readonly ChainLag[], samples: readonly Sample[]): Verdict {
  const faults: string[] = []
  const lines = chains.map(({ chainId, latenciesMs }) => {
    const [p50, p99, longest] = [0.5, 0.99, 1].map(share => quantile(latenciesMs, share)) as [
      number,
      number,
      number,
    ]
    if (latenciesMs.length < LEAST_SWAPS)
      faults.push(`chain ${chainId}: ${latenciesMs.length} swaps are too few to judge its lag`)
    else if (p99 > P99_MS)
      faults.push(`chain ${chainId}: p99 of the lag is ${p99.toFixed(0)} ms, goal ${P99_MS}`)
    return `chain ${String(chainId).padStart(5)}  ${latenciesMs.length} swaps, lag p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, longest ${longest.toFixed(0)} ms`
  })
  const quarter = (at: number) =>
    samples.slice(Math.floor((samples.length * at) / 4), Math.floor((samples.length * (at + 1)) / 4))
  const typical = (part: readonly Sample[], of: (sample: Sample) => number) => quantile(part.map(of), 0.5)
  const mib = ({ mib: of }: Sample) => of
  const [settled, last] = [typical(quarter(1), mib), typical(quarter(3), mib)]
  if (!(last <= settled * (1 + GROWTH.share) + GROWTH.mib))
    faults.push(
      `memory is not flat: ${settled.toFixed(0)} MiB in the second quarter, ${last.toFixed(0)} in the last`,
    )
  const cores = (of: (sample: Sample) => number) => `${mean(samples.map(of)).toFixed(2)} cores`
  lines.push(
    `service  ${settled.toFixed(0)} MiB in the second quarter, ${last.toFixed(0)} in the last, ${Math.max(...samples.map(mib)).toFixed(0)} at most; ${cores(({ serviceCores }) => serviceCores)}`,
    `node     ${cores(({ nodeCores }) => nodeCores)}`,
  )
  return { lines, faults }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length
