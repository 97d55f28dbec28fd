/** The same while the service watches: a pool earns its weight from its creation on. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const youngPoolSeen: Attack = {
  name: 'young pool seen',
  about: 'a new pool ten times as deep as the honest one opens at a price of 2; checked for five minutes',
  on: 'both',
  wanted: {},
  async play(stage) {
    await settle(stage, 600, { honest: { depth: 20_000 } })
    await stage.pool('fake', { of: 'T', price: 2, depth: 200_000, factory: 'b', isNew: true })
    for (let n = 0; n < 25; n++) {
      await stage.block()
      await stage.look('T')
    }
  },
}
