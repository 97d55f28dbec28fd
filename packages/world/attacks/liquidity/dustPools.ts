/** Many tiny pools at a price of their own: dust has no vote. */
import type { Attack } from '../attack.ts'

export const dustPools: Attack = {
  name: 'dust pools',
  about: '40 pools of 60 dollars each at three times the price, beside one of 50,000',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.005 },
  async play(stage) {
    stage.token('T')
    await stage.pool('honest', { of: 'T', depth: 50_000 })
    for (let n = 0; n < 40; n++)
      await stage.pool(`dust ${n}`, { of: 'T', price: 3, depth: 60, factory: n % 2 === 0 ? 'a' : 'b' })
    await stage.ask('T')
    await stage.quiet(600)
    await stage.look('T')
  },
}
