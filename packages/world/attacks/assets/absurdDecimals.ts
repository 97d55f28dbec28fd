/** Decimals that no token has. */
import type { Attack } from '../attack.ts'

export const absurdDecimals: readonly Attack[] = [37, 255].map(decimals => ({
  name: `${decimals} decimals`,
  about: 'two pools of 20,000 of two factories',
  on: 'engine',
  wanted: { state: 'UNPRICED' },
  async play(stage) {
    stage.token('T')
    await stage.decimals('T', decimals)
    await stage.pool('one', { of: 'T', depth: 20_000 })
    await stage.pool('two', { of: 'T', depth: 20_000, factory: 'b' })
    await stage.ask('T')
    await stage.quiet(900)
    await stage.look('T')
  },
}))
