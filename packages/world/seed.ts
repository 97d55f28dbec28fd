/**
 * The seed of a random test run: `ASSAY_SEED` if set, a new one for `ASSAY_SEED=random`, otherwise the same one in
 * every run. A failure in an ordinary run is therefore caused by the change under test; `npm run test:seeds` looks
 * for the rest.
 */
import { randomInt } from 'node:crypto'

const SEEDS = 2 ** 32
const USUAL_SEED = 20_261_119

export function seedOfRun(environment: Readonly<Record<string, string | undefined>> = process.env): number {
  const given = environment['ASSAY_SEED']
  if (given === undefined) return USUAL_SEED
  if (given === 'random') return randomInt(SEEDS)
  if (!/^\d{1,10}$/.test(given) || Number(given) >= SEEDS) {
    throw new RangeError(
      `ASSAY_SEED is ${JSON.stringify(given)}, expected an integer below ${SEEDS} or the word random`,
    )
  }
  return Number(given)
}
