/** Every balance doubles without any pair being notified: a unit is worth half, and the pairs keep their old price. */
import type { Attack } from '../attack.ts'

export const rebase: Attack = {
  name: 'T10 rebase without a sync',
  about: 'all balances of a token double, including those of two deep pairs, which are not synced',
  on: 'both',
  wanted: { atMost: 3, code: 'UNBACKED' },
  async play(stage) {
    stage.token('T', { heldTimes: 2 })
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', depth: 50_000, factory: 'b' })
    await stage.anchors(200_000)
    await stage.ask('T')
    await stage.quiet(3600)
    await stage.look('T', { usd: 0.5 })
  },
}
