/** A price driven away and back inside one block: the typical use of flash loans. */
import type { Attack } from '../attack.ts'

export const flash: Attack = {
  name: 'flash swap',
  about: 'to 2 and back, and to a half and back, inside one block',
  on: 'both',
  wanted: { state: 'PRICED', within: 0.02 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 10_000 })
    await stage.pool('two', { of: 'T', depth: 10_000, family: 'v3', factory: 'b' })
    await stage.ask('T')
    await stage.quiet(600)
    await stage.rounds(5, async () => {
      for (const usd of [2, 1, 0.5, 1]) for (const pool of ['one', 'two']) stage.push(pool, usd)
      await stage.block()
      await stage.look('T')
    })
  },
}
