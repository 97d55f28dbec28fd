/** Parses DefiLlama's `/batchHistorical`: coins, and moments of each, as JSON in a parameter. */
import { RequestError } from '../../plumbing/apiError.ts'
import { MOST_TOKENS } from '../addresses.ts'

/** Over all coins together: each moment is a read. */
const MOST_MOMENTS = 500

/** `{"chain:address": [seconds, …]}`; moments in milliseconds. */
export function batchIn(text: string | null): ReadonlyMap<string, readonly number[]> {
  const refuse = () =>
    new RequestError(
      400,
      `coins must be a JSON object of lists of Unix seconds, at most 100 coins and ${MOST_MOMENTS} moments in all`,
    )
  let parsed: unknown
  try {
    parsed = JSON.parse(text ?? '')
  } catch {
    throw refuse()
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw refuse()
  const wanted = new Map<string, readonly number[]>()
  let moments = 0
  for (const [name, list] of Object.entries(parsed)) {
    if (!Array.isArray(list)) throw refuse()
    moments += list.length
    if (wanted.size >= MOST_TOKENS || moments > MOST_MOMENTS) throw refuse()
    wanted.set(
      name,
      list.map((each: unknown) => {
        const seconds = typeof each === 'number' ? each : Number.NaN
        if (!(Number.isInteger(seconds) && seconds >= 0 && seconds < 1e10)) throw refuse()
        return seconds * 1000
      }),
    )
  }
  return wanted
}
