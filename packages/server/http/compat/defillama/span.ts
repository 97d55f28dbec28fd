/**
 * Times and durations as DefiLlama's clients write them: seconds, or a number with a unit such as `4h`, `1d` or `1W`.
 */
import { RequestError } from '../../plumbing/apiError.ts'

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  W: 604_800_000,
  D: 86_400_000,
  H: 3_600_000,
  // A month, as in chart candles.
  M: 30 * 86_400_000,
}
/** No history is longer than this. */
const LONGEST_MS = 10 * 366 * 86_400_000

/** In milliseconds; a bare number is seconds. */
export function durationIn(search: URLSearchParams, name: string): number | null {
  const text = search.get(name)
  if (text === null) return null
  const [, digits = '', unit = 's'] = /^(\d{1,9})([smhdwWDHM]?)$/.exec(text) ?? []
  const ms = digits === '' ? Number.NaN : Number(digits) * (UNITS_MS[unit === '' ? 's' : unit] ?? Number.NaN)
  if (!(ms >= 1000 && ms <= LONGEST_MS))
    throw new RequestError(
      400,
      `${name} is ${JSON.stringify(text.slice(0, 40))}; expected a duration such as 4h or 1d`,
    )
  return ms
}

/** A moment in milliseconds, from Unix seconds. */
export function momentIn(text: string | null, name: string): number | null {
  if (text === null) return null
  if (!/^\d{1,10}$/.test(text))
    throw new RequestError(400, `${name} is ${JSON.stringify(text.slice(0, 40))}; expected Unix seconds`)
  return Number(text) * 1000
}
