/** A stable far below its feed, in one pool that is too small to speak alone. */
import type { Attack } from '../attack.ts'

export const deepDepeg: Attack = {
  name: 'deep depeg in one pool',
  about:
    'USDC falls to 0.7 in its only pool, 1,000,000 with USDT; its feed says 1.00 for an hour; T is in USDC',
  on: 'engine',
  wanted: {},
  open: 'not covered: a lone pool of stables below 2,500,000 caps at 6, however far it is from the feeds',
  async play(stage) {
    stage.token('T')
    await stage.pool('stables', { of: 'USDC', with: 'USDT', depth: 1_000_000 })
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3900)
    stage.worth('USDC', 0.7)
    stage.push('stables', 0.7)
    for (const pool of ['one', 'two']) stage.push(pool, 1 / 0.7)
    await stage.block()
    for (let n = 0; n < 60; n++) {
      for (const pool of ['one', 'two', 'stables']) stage[n % 2 === 0 ? 'buy' : 'sell'](pool, 100)
      await stage.block(60)
      if (n % 5 === 4) await stage.look('T')
    }
  },
}
