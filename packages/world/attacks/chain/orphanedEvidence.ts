/** The block that moved the price is orphaned: no trace of it may remain. */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const orphanedEvidence: Attack = {
  name: 'reorg of the evidence',
  about: 'three blocks at 2 are replaced by empty ones',
  on: 'both',
  wanted: { state: 'PRICED', within: 0.005 },
  async play(stage) {
    await settle(stage, 600, { one: { depth: 10_000 } })
    stage.mark()
    for (const usd of [1.5, 2, 2.1]) {
      stage.push('one', usd)
      await stage.block()
    }
    await stage.orphan()
    await stage.look('T')
  },
}
