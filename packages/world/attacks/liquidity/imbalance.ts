/** A deep pair that holds far too little of one side. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const imbalance: Attack = {
  name: 'value imbalance',
  about: 'a new pair prices the token at 20 times its worth and is ten times as deep as the honest pool',
  on: 'both',
  wanted: { atMost: 3 },
  async play(stage) {
    await settle(stage, 600, { honest: { depth: 5_000 } })
    await stage.pool('fake', { of: 'T', price: 20, depth: 50_000, factory: 'b', isNew: true })
    await stage.block()
    await stage.quiet(1200)
    await stage.look('T')
  },
}
