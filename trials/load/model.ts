/**
 * The capacity model: the cores of a role are those it uses at rest, plus a cost for each swap, price (a record about
 * a pool or token, one per block however many swaps it had), quote, fresh quote (the first of a token since its price
 * changed, in addition to the quote) and delivery (a record at a socket). The costs are those that fit the measured
 * cases best. The test of the model is its prediction for a case that was not fitted.
 */

export const WORK = ['swap', 'price', 'quote', 'freshQuote', 'delivery'] as const
export type Work = (typeof WORK)[number]

/** Amount of each per second. */
export type Demand = Readonly<Record<Work, number>>
/** `atRest` in cores, work in microseconds of processor time each. */
export type Costs = Readonly<Record<Work, number>> & { readonly atRest: number }
export type Point = { readonly demand: Demand; readonly cores: number }

const MICROS = 1e6
/** For columns of length one: below it, no case distinguishes a cost from the others. */
const LEAST_PIVOT = 1e-9

/** Cores needed for a demand. */
export const coresOf = (costs: Costs, demand: Demand): number =>
  WORK.reduce((cores, work) => cores + (costs[work] * demand[work]) / MICROS, costs.atRest)

/**
 * Least squares, with no cost below zero: the most negative cost is set to zero, and the others are fitted again. The
 * same applies to a kind of work that occurs in no point, or only together with another.
 */
export function fitCosts(points: readonly Point[]): Costs {
  let kinds: readonly (Work | 'atRest')[] = ['atRest', ...WORK]
  for (;;) {
    const { solved, dependent } = leastSquares(
      points.map(({ demand }) => kinds.map(kind => (kind === 'atRest' ? 1 : demand[kind] / MICROS))),
      points.map(({ cores }) => cores),
    )
    const least = Math.min(...solved)
    const dropped = dependent ?? (least < 0 ? solved.indexOf(least) : null)
    if (dropped === null) {
      const costs = { atRest: 0, swap: 0, price: 0, quote: 0, freshQuote: 0, delivery: 0 }
      for (const [at, kind] of kinds.entries()) costs[kind] = solved[at] as number
      return costs
    }
    kinds = kinds.filter((_, at) => at !== dropped)
  }
}

/**
 * x with the least |Ax − b| by the normal equations; `dependent` is a column that is a combination of the others, if
 * there is one.
 */
function leastSquares(
  rows: readonly (readonly number[])[],
  results: readonly number[],
): { readonly solved: readonly number[]; readonly dependent: number | null } {
  const columns = rows[0]?.length ?? 0
  const column = (at: number) => rows.map(row => row[at] as number)
  // Scaled to the same length, so that a small pivot is meaningful.
  const lengths = Array.from({ length: columns }, (_, at) => Math.sqrt(dot(column(at), column(at))))
  const empty = lengths.indexOf(0)
  if (empty >= 0) return { solved: [], dependent: empty }
  const units = lengths.map((length, at) => column(at).map(value => value / length))
  const matrix = units.map(unit => [...units.map(other => dot(unit, other)), dot(unit, results)])
  // The matrix is symmetric and has no negative pivot: Gauss needs no exchange of rows.
  for (let pivot = 0; pivot < columns; pivot++) {
    const own = matrix[pivot] as number[]
    if ((own[pivot] as number) < LEAST_PIVOT) return { solved: [], dependent: pivot }
    for (const [at, row] of matrix.entries()) {
      if (at === pivot) continue
      const factor = (row[pivot] as number) / (own[pivot] as number)
      for (let i = pivot; i <= columns; i++) row[i] = (row[i] as number) - factor * (own[i] as number)
    }
  }
  const solved = matrix.map(
    (row, at) => (row[columns] as number) / (row[at] as number) / (lengths[at] as number),
  )
  return { solved, dependent: null }
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
