/** A pool is emptied and filled again at another price: it is the same pool, and keeps its past. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const recreated: Attack = {
  name: 'emptied and filled again',
  about: 'the owner of a lone pool removes everything and returns at 1.45 in the next block',
  on: 'both',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 1500, { one: { depth: 20_000 } })
    stage.drain('one', 0.9999)
    await stage.block()
    stage.push('one', 1.45)
    stage.add('one', 20_000)
    await stage.block()
    await stage.look('T')
    await stage.quiet(60, 12)
    await stage.look('T')
  },
}
