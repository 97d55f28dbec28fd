/** A price raised by half, in the token's only pool, for slightly longer than half the five-minute window. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const heldInOne: Attack = {
  name: 'T13 +50% held, one pool',
  about: 'a lone pool of 3,000 at 1.5 for 156 s',
  on: 'both',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 1500, { one: { depth: 3_000 } })
    stage.push('one', 1.52)
    await stage.block()
    await stage.quiet(156, 12)
    await stage.look('T')
    await stage.quiet(120, 12)
    await stage.look('T')
  },
}
