/** The seed of a run, which a test that fails prints: with it the same cases are drawn again. */
import { seedOfRun } from '@assay/world'
import { beforeEach, onTestFailed } from 'vitest'

/** For all tests of the file that calls it. */
export function printedSeed(): number {
  const seed = seedOfRun()
  beforeEach(() => {
    onTestFailed(() => console.error(`repeat with ASSAY_SEED=${seed}`))
  })
  return seed
}
