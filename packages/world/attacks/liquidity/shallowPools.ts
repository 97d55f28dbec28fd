/** Two pools that are too shallow to be believed, and the much larger liquidity that an attack shows in both. */
import { settle } from '../settle.ts'
import type { Position, Stage } from '../stage.ts'

/** Adds it to both. */
export async function settleShallow(stage: Stage): Promise<() => readonly Position[]> {
  const shallow = { depth: 60, family: 'v3', band: [0.96, 1.04] } as const
  await settle(stage, 360, { one: { ...shallow, factory: 'a' }, two: { ...shallow, factory: 'b' } })
  return () => ['one', 'two'].map(pool => stage.add(pool, 120_000, [0.5, 2]))
}
