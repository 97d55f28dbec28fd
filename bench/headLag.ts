/**
 * Head lag as OpenChainBench measures it (its benchmark 001): a node's own announcement of a swap is the clock, a swap at
 * the feed is matched to it by its transaction whichever of the two comes first, and a gauge per chain, the lag of the
 * newest match, is sampled every 15 seconds. The quantiles are those of the samples. Presence is stricter here: a slot
 * without a new match has no sample, and the swaps that never came are counted too.
 */
import { quantile } from './harness.ts'

export const SAMPLE_MS = 15_000
/** A swap that is later than this at the feed counts as missing. */
const DEADLINE_MS = 8000

type Swap = { sentMs: number | null; receivedMs: number | null }

export type HeadLagResult = {
  readonly samplesMs: readonly number[]
  /** Slots of all chains in which a sample was due. */
  readonly slots: number
  /** Swaps that the nodes announced and that had time to arrive. */
  readonly swaps: number
  readonly present: number
}

export class HeadLag {
  readonly #chains: readonly number[]
  readonly #swaps = new Map<string, Swap>()
  readonly #gauges = new Map<number, number>()
  readonly #samplesMs: number[] = []
  #slots = 0

  constructor(chains: readonly number[]) {
    this.#chains = chains
  }

  /** The node announced a swap of a reference pool. */
  sent(chainId: number, transaction: string, atMs: number): void {
    const swap = this.#swapOf(chainId, transaction)
    // A subscription may deliver twice, and a later copy would flatter the feed.
    swap.sentMs ??= atMs
    this.#match(chainId, swap)
  }

  /** The swap is at the subscriber of the feed. */
  received(chainId: number, transaction: string, atMs: number): void {
    const swap = this.#swapOf(chainId, transaction)
    if (swap.receivedMs !== null) return
    swap.receivedMs = atMs
    this.#match(chainId, swap)
  }

  /** Call every `SAMPLE_MS`. */
  sample(): void {
    this.#slots += this.#chains.length
    this.#samplesMs.push(...this.#gauges.values())
    this.#gauges.clear()
  }

  result(endMs: number): HeadLagResult {
    const sent = [...this.#swaps.values()].filter(
      ({ sentMs, receivedMs }) => sentMs !== null && (receivedMs !== null || sentMs <= endMs - DEADLINE_MS),
    )
    const present = sent.filter(swap => lagOf(swap) !== null).length
    return { samplesMs: this.#samplesMs, slots: this.#slots, swaps: sent.length, present }
  }

  #swapOf(chainId: number, transaction: string): Swap {
    const key = `${chainId}/${transaction}`
    const swap = this.#swaps.get(key) ?? { sentMs: null, receivedMs: null }
    this.#swaps.set(key, swap)
    return swap
  }

  #match(chainId: number, swap: Swap): void {
    const lagMs = lagOf(swap)
    if (lagMs !== null) this.#gauges.set(chainId, lagMs)
  }
}

/** Null while one of the two is missing, and for a swap that came too late. */
function lagOf({ sentMs, receivedMs }: Swap): number | null {
  if (sentMs === null || receivedMs === null) return null
  const lagMs = receivedMs - sentMs
  return lagMs > DEADLINE_MS ? null : lagMs
}

const percent = (part: number, whole: number): string =>
  whole === 0 ? 'none was due' : `${((100 * part) / whole).toFixed(2)} %`

export function headLagLines({ samplesMs, slots, swaps, present }: HeadLagResult): readonly string[] {
  const at = (share: number) =>
    samplesMs.length === 0 ? 'no sample' : `${quantile(samplesMs, share).toFixed(1)} ms`
  return [
    'head lag as OpenChainBench samples it: from the node to the feed, the newest swap of a chain every 15 s',
    `p50, p90, p99          ${at(0.5)}, ${at(0.9)}, ${at(0.99)}`,
    `presence               ${samplesMs.length} of ${slots} samples, ${percent(samplesMs.length, slots)}`,
    `swaps that arrived     ${present} of ${swaps}, ${percent(present, swaps)}`,
  ]
}
