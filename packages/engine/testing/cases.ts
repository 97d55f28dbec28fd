/**
 * How many cases a property runs, and integers of every length to run it on.
 *
 * ASSAY_CASES_SCALE=10 runs ten times as many of everything. A property that fails prints its own seed.
 */
import * as fc from 'fast-check'
import { vi } from 'vitest'

type Host = { readonly process?: { readonly env: Readonly<Record<string, string | undefined>> } }

const requested = (globalThis as Host).process?.env['ASSAY_CASES_SCALE'] ?? '1'
if (!/^[1-9][0-9]{0,3}$/.test(requested)) {
  throw new Error(
    `ASSAY_CASES_SCALE: received ${JSON.stringify(requested)}, expected an integer from 1 to 9999`,
  )
}
const scale = Number(requested)

/** The usual run draws the same cases each time; the longer form, and `ASSAY_SEED=random`, draw new ones. */
const USUAL_SEED = '20261119'
const seed = (globalThis as Host).process?.env['ASSAY_SEED'] ?? USUAL_SEED
if (scale === 1 && seed !== 'random') fc.configureGlobal({ seed: Number(seed) })

/** Per test, for a machine a tenth as fast as ours. */
vi.setConfig({ testTimeout: 120_000 * scale })

export const cases = (base = 100) => base * scale

/** Positive, with the length uniform from 1 bit to `maxBits`: a uniform value would always be a long one. */
export const natural = (maxBits = 256): fc.Arbitrary<bigint> =>
  fc
    .integer({ min: 1, max: maxBits })
    .chain(bits => fc.bigInt({ min: 1n << BigInt(bits - 1), max: (1n << BigInt(bits)) - 1n }))
