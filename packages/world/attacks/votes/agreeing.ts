/** An honest pool that agrees with a deep one grows: a score must never fall for it. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const agreeing: readonly Attack[] = [
  { deep: 20_000, depth: 2_800, atLeast: 5 },
  { deep: 20_000, depth: 20_000, atLeast: 5 },
  { deep: 3_000, depth: 420, atLeast: 4 },
].map(({ deep, depth, atLeast }) => ({
  name: `T7 ${depth} beside ${deep}`,
  about: `a pool of another factory grows to ${depth} beside one of ${deep}, at its price: the score may only rise`,
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.005, atLeast },
  async play(stage) {
    await settle(stage, 3900, { deep: { depth: deep }, other: { depth: 1, factory: 'b' } })
    await stage.look('T')
    stage.add('other', depth)
    await stage.block()
    await stage.look('T')
    for (let n = 0; n < 60; n++) {
      await stage.quiet(60)
      await stage.look('T')
    }
  },
}))
