/**
 * Finds the hops into an anchor that enter another band of depth when the anchor's price moves. The depth of a hop in
 * dollars is its depth in the anchor times that price, so one number locates all its bands: the price at which the
 * hop is worth a microdollar. Hops are kept in narrow ranges of that number, so the cost of a move depends only on
 * the few hops it passes.
 *
 * Derived from the pools alone. Doubles decide which hops a move passes, with a margin of a thousandth: a hop may be
 * evaluated needlessly, but none is missed, and depth that still rises is tracked to the same accuracy.
 */
import { once } from '../exact/once.ts'
import { powerOfTen } from '../exact/decimal.ts'
import type { Around, Pool, FiledDepth } from '../entities.ts'
import { asApprox, type Count, count, type Approx } from '../units.ts'

/** Ranges per doubling of the price. */
const RANGES = 64
const SLACK = 0.001
const MICRO = 1e6

/** Whether the watch of its anchor has the current state of a pool. */
export function isFiled({ state, around }: Pool): boolean {
  const { filed } = around
  return filed !== null && filed.state === state && filed.decimals === decimalsOf(around)
}

/** Decimals of the anchor. */
const decimalsOf = ({ to }: Around): Count | null => to.decimals?.value ?? null

/** The hops into one anchor. */
export class DepthWatch {
  readonly #ranges = new Map<Count, Set<Pool>>()

  /** Files a pool by its current depth. */
  file(pool: Pool): void {
    const { state, around } = pool
    const known = around.filed
    const decimals = decimalsOf(around)
    const unit = decimals === null ? null : unitOf(state.depthY, powerOfTen(decimals))
    around.filed = { state, decimals, unit }
    const range = unit === null ? null : rangeOf(unit)
    // Few trades take a pool out of its range.
    if (known !== null && known.unit !== null && rangeOf(known.unit) === range) return
    if (known !== null) this.#leave(pool, known)
    if (range !== null) once(this.#ranges, range, () => new Set()).add(pool)
  }

  forget(pool: Pool): void {
    const { filed } = pool.around
    pool.around.filed = null
    if (filed !== null) this.#leave(pool, filed)
  }

  /** Pools whose depth passes one of `bands`, in microdollars, as the price goes from `before` to `now`. */
  *passed(before: Approx, now: Approx, bands: readonly bigint[]): Generator<Pool> {
    const [low, high] = before < now ? [before, now] : [now, before]
    for (const band of bands) {
      const least = asApprox((low / Number(band)) * (1 - SLACK))
      const most = asApprox((high / Number(band)) * (1 + SLACK))
      for (const pools of this.#between(least, most))
        for (const pool of pools) {
          const unit = pool.around.filed?.unit as Approx
          if (unit >= least && unit <= most) yield pool
        }
    }
  }

  *#between(least: Approx, most: Approx): Generator<ReadonlySet<Pool>> {
    const first = rangeOf(least)
    const last = rangeOf(most)
    // A large move may span more ranges than there are pools.
    if (last - first >= this.#ranges.size) return yield* this.#ranges.values()
    for (let at = first; at <= last; at = count(at + 1)) {
      const pools = this.#ranges.get(at)
      if (pools !== undefined) yield pools
    }
  }

  #leave(pool: Pool, { unit }: FiledDepth): void {
    if (unit === null) return
    const range = rangeOf(unit)
    const pools = this.#ranges.get(range)
    pools?.delete(pool)
    if (pools?.size === 0) this.#ranges.delete(range)
  }
}

/** The slack is wider than any rounding of the logarithm, so a pool at the end of a range is not missed. */
const rangeOf = (unit: Approx): Count => count(Math.floor(Math.log2(unit) * RANGES))

/** The price of Y at which this depth, in units of 1 / `scale`, is worth a microdollar. */
function unitOf(depthY: bigint | null, scale: bigint): Approx | null {
  if (depthY === null || depthY <= 0n) return null
  const unit = Number(scale) / (Number(depthY) * MICRO)
  return unit > 0 && unit < Infinity ? asApprox(unit) : null
}
