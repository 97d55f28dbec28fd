/**
 * The seed of a random test run: ASSAY_SEED where it is set, to repeat a failure, else a fresh one.
 */
import { randomInt } from 'node:crypto'

const SEEDS = 2 ** 32

export function seedOfRun(environment: Readonly<Record<string, string | undefined>> = process.env): number {
  const given = environment['ASSAY_SEED']
  if (given === undefined) return randomInt(SEEDS)
  if (!/^\d{1,10}$/.test(given) || Number(given) >= SEEDS) {
    throw new RangeError(`ASSAY_SEED is ${JSON.stringify(given)}, expected an integer below ${SEEDS}`)
  }
  return Number(given)
}
