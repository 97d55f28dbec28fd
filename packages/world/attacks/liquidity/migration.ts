/**
 * An honest migration: all liquidity moves to a new pool. The price must return as soon as the new pool has earned
 * it.
 */
import type { Attack } from '../attack.ts'
import { settle } from '../settle.ts'

export const migration: Attack = {
  name: 'T20 migration',
  about: 'all 50,000 of an old pool move to a new one in one block; ten seconds later there must be a price',
  on: 'engine',
  wanted: { state: 'PRICED', within: 0.005 },
  async play(stage) {
    await settle(stage, 1800, { old: { depth: 50_000 } })
    stage.drain('old', 0.9999)
    await stage.pool('new', { of: 'T', depth: 50_000, factory: 'b', isNew: true })
    await stage.block()
    await stage.wait(10)
    await stage.look('T')
  },
}
