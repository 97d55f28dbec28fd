/** The usual opening of an attack: the market of one token, priced and calm. */
import type { PoolSpec, Stage } from './stage.ts'

/** Token T in these pools, requested, and then this many seconds without a trade. */
export async function settle(
  stage: Stage,
  quietS: number,
  pools: Readonly<Record<string, Omit<PoolSpec, 'of'>>>,
): Promise<void> {
  stage.token('T')
  for (const [name, spec] of Object.entries(pools)) await stage.pool(name, { of: 'T', ...spec })
  await stage.ask('T')
  await stage.quiet(quietS)
}

/** As deep as each other, one on each curve. */
export const settleTwoAlike = (stage: Stage): Promise<void> =>
  settle(stage, 600, {
    one: { depth: 10_000 },
    two: { depth: 10_000, family: 'v3', factory: 'b' },
  })
