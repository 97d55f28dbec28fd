/** The feed of a stable reports 1.00 while the stable's own deep pool trades at 0.90. */
import type { Attack } from '../attack.ts'

export const stableSays: Attack = {
  name: 'T11 feed against a deep pool',
  about:
    'the feed of USDC stays at 1.00 while a pool of 18,000,000 with USDT goes to 0.90; T trades in USDC at its worth',
  on: 'engine',
  wanted: { atMost: 3, code: 'STABLE_DISPUTED' },
  async play(stage) {
    stage.token('T')
    await stage.pool('stables', { of: 'USDC', with: 'USDT', depth: 18_000_000, family: 'v3', feePpm: 500 })
    await stage.pool('one', { of: 'T', depth: 50_000 })
    await stage.pool('two', { of: 'T', with: 'USDT', depth: 5_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(3900)
    stage.worth('USDC', 0.9)
    stage.push('stables', 0.9)
    stage.push('one', 1 / 0.9)
    await stage.block()
    await stage.quiet(600)
    await stage.look('T')
  },
}
