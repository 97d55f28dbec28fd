/**
 * The statistics of a calibration's samples: quantiles of the error by score, and whether the error falls from band
 * to band.
 *
 * Samples of one market are correlated, so the bootstrap resamples whole markets, not samples.
 */
import type { Sample } from './sample.ts'
import { Chance } from './chance.ts'

export type Row = {
  readonly score: number
  readonly samples: number
  readonly exit: readonly [p50: number, p90: number, p99: number]
  readonly fair: readonly [p50: number, p90: number, p99: number]
}

export const SCORES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const
export const BANDS: readonly (readonly [number, number])[] = [
  [1, 2],
  [3, 4],
  [5, 6],
  [7, 8],
]
const RESAMPLES = 1000
/** A fall counts when this share of the resamples shows it. */
export const SURE = 0.95

/** The least value with at least a share `q` of all at or below it; NaN for an empty list. Ascending. */
export function quantile(ascending: readonly number[], q: number): number {
  return ascending[Math.max(0, Math.ceil(q * ascending.length) - 1)] ?? NaN
}

export function rowsOf(samples: readonly Sample[]): Row[] {
  return SCORES.map(score => {
    const own = samples.filter(each => each.score === score)
    return { score, samples: own.length, exit: spreadOf(own, 'exitBps'), fair: spreadOf(own, 'fairBps') }
  })
}

function spreadOf(samples: readonly Sample[], of: 'exitBps' | 'fairBps'): Row['exit'] {
  const ascending = samples.map(sample => sample[of]).sort((a, b) => a - b)
  return [quantile(ascending, 0.5), quantile(ascending, 0.9), quantile(ascending, 0.99)]
}

export type Fall = {
  readonly from: readonly [number, number]
  readonly to: readonly [number, number]
  readonly p90: readonly [number, number]
  /** Share of the resamples in which the error falls from one band to the next. */
  readonly share: number
  readonly holds: boolean
}

/** From each band to the next: the p90 error against the exit, and how certain the fall is. */
export function fallsOf(samples: readonly Sample[], seed: number): Fall[] {
  const markets = new Map<number, number>()
  for (const { seed: market } of samples) if (!markets.has(market)) markets.set(market, markets.size)
  const bands = BANDS.map(([low, high]) =>
    samples
      .filter(({ score }) => score >= low && score <= high)
      .map(({ exitBps, seed: market }) => ({ bps: exitBps, market: markets.get(market) as number }))
      .sort((a, b) => a.bps - b.bps),
  )
  const chance = new Chance(seed, 2)
  const drawn: number[][] = []
  for (let n = 0; n < RESAMPLES; n++) {
    const times = new Uint16Array(markets.size)
    for (let left = markets.size; left > 0; left--) (times[chance.below(markets.size)] as number)++
    drawn.push(bands.map(band => weighted(band, times)))
  }
  return BANDS.slice(1).map((to, at) => {
    const p90 = [at, at + 1].map(band =>
      quantile(
        (bands[band] ?? []).map(({ bps }) => bps),
        0.9,
      ),
    ) as [number, number]
    const share = drawn.filter(p90s => (p90s[at + 1] as number) < (p90s[at] as number)).length / RESAMPLES
    return {
      from: BANDS[at] as readonly [number, number],
      to,
      p90,
      share,
      holds: p90[1] < p90[0] && share >= SURE,
    }
  })
}

/** The 90th percentile when each market counts as often as it was drawn; NaN for an empty list. */
function weighted(ascending: readonly { bps: number; market: number }[], times: Uint16Array): number {
  let total = 0
  for (const { market } of ascending) total += times[market] as number
  let running = 0
  for (const { bps, market } of ascending) {
    running += times[market] as number
    if (10 * running >= 9 * total && total > 0) return bps
  }
  return NaN
}

export type Deciders = readonly (readonly [decider: string, samples: number, p90: number])[]

/** What decided the score of a band, most frequent first, each with its own p90 error against the exit. */
export function decidersOf(samples: readonly Sample[], [low, high]: readonly [number, number]): Deciders {
  const by = new Map<string, number[]>()
  for (const { score, decider, exitBps } of samples) {
    if (score < low || score > high) continue
    const known = by.get(decider)
    if (known === undefined) by.set(decider, [exitBps])
    else known.push(exitBps)
  }
  return [...by]
    .map(
      ([decider, all]) =>
        [
          decider,
          all.length,
          quantile(
            all.sort((a, b) => a - b),
            0.9,
          ),
        ] as const,
    )
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
