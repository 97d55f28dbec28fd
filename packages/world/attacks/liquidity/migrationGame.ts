/** The main pool is emptied, and pools that waited at another price take over. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const migrationGame: Attack = {
  name: 'T14 main pool leaves',
  about: 'two aged pools of 10,000 at 1.5 take over when the main pool of 1,000,000 leaves',
  on: 'both',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 3900, {
      main: { depth: 1_000_000 },
      left: { price: 1.5, depth: 10_000, family: 'v3', factory: 'a' },
      right: { price: 1.5, depth: 10_000, family: 'v3', factory: 'b' },
    })
    stage.drain('main', 1)
    await stage.block()
    await stage.look('T')
    await stage.quiet(240, 12)
    await stage.look('T')
  },
}
