/** The decimals that a token reports change while it is being priced. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const decimalsChange: Attack = {
  name: 'T16 decimals change',
  about: 'decimals() goes from 18 to 6: no price for 30 minutes, and then only with a warning',
  on: 'both',
  wanted: { atMost: 1 },
  async play(stage) {
    await settle(stage, 900, { one: { depth: 50_000 }, two: { depth: 50_000, factory: 'b' } })
    await stage.decimals('T', 6)
    await stage.look('T')
    await stage.block()
    await stage.decimals('T', 6)
    await stage.look('T')
    for (let n = 0; n < 35; n++) {
      await stage.quiet(60)
      await stage.decimals('T', 6)
      await stage.look('T')
    }
  },
}
