/** A depeg that the feed reports, so no reader may be misled. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const depegFollowed: Attack = {
  name: 'depeg with its feed',
  about: 'USDC falls to 0.97, then 0.90, and its feed says so; T is only in USDC',
  on: 'engine',
  wanted: {},
  async play(stage) {
    await settle(stage, 3900, { one: { depth: 50_000 }, two: { depth: 50_000, factory: 'b' } })
    for (const usd of [0.97, 0.9]) {
      stage.worth('USDC', usd)
      for (const pool of ['one', 'two']) stage.push(pool, 1 / usd)
      await stage.block()
      await stage.feed('USDC', usd)
      await stage.look('T')
      await stage.quiet(360)
      await stage.look('T')
    }
  },
}
