/** Tokens donated to a pair and counted: the price moves without a trade. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const donation: Attack = {
  name: 'donation and sync',
  about:
    '180,000 of the other token, more than half of its reserve, is donated to a lone pair, synced, and stays for five minutes',
  on: 'both',
  wanted: { atMost: 4 },
  async play(stage) {
    await settle(stage, 1500, { one: { depth: 3_000 } })
    stage.donate('one', 'other', 180_000)
    await stage.block()
    await stage.look('T')
    await stage.quiet(300, 12)
    await stage.look('T')
  },
}
