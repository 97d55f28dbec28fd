/** Everyone can buy, and only the owner can sell. */
import type { Attack } from '../attack.ts'

export const honeypot: Attack = {
  name: 'T9b honeypot',
  about: '800 purchases in two deep pools of two factories, and not one sale: nobody can sell',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 1, code: 'UNSELLABLE' },
  async play(stage) {
    stage.token('T', { sellTaxBps: null })
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.anchors(200_000)
    await stage.ask('T')
    for (let n = 0; n < 400; n++) {
      for (const pool of ['one', 'two']) stage.buy(pool, 11)
      await stage.block()
    }
    await stage.look('T')
  },
}
