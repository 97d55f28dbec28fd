/** Liquidity rented for ten minutes and then removed: only the rest may count. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const rented: Attack = {
  name: 'rented liquidity',
  about: '200,000 stays for ten minutes in a pool of 300 and leaves',
  on: 'engine',
  against: 'seller',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 1800, { one: { depth: 300 } })
    const guest = stage.add('one', 200_000)
    await stage.block()
    await stage.quiet(600, 12)
    stage.remove(guest)
    await stage.block()
    await stage.look('T')
    await stage.quiet(120, 12)
    await stage.look('T')
  },
}
