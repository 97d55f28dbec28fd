/** A token that keeps three tenths of every sale: the pool's price is not the seller's price. */
import type { Attack } from '../attack.ts'

export const sellTax: Attack = {
  name: 'T9 a sale tax of 30%',
  about: 'two deep pools of two factories; 30% of every sale does not arrive',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 3, state: 'PRICED', code: 'TRANSFER_TAX' },
  async play(stage) {
    stage.token('T', { sellTaxBps: 3000 })
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.anchors(200_000)
    await stage.ask('T')
    await stage.quiet(3600)
    await stage.look('T')
  },
}
