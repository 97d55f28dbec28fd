/** A pool created a minute before its token is first requested: it must not count as if it had always existed. */
import type { Attack } from '../attack.ts'

export const youngPool: Attack = {
  name: 'T1 young pool',
  about: 'a pool of 30,000 at a price of 3 is created a minute before its token is first requested',
  on: 'chain',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('fake', { of: 'T', price: 3, depth: 30_000, isNew: true })
    await stage.block()
    await stage.quiet(60, 12)
    await stage.ask('T')
    await stage.look('T', { usd: 1 })
  },
}
