/** A price parked at the edge of a band: deep on one side, and one trade away from nothing on the other. */
import type { Attack } from '../attack.ts'

export const edgeParking: Attack = {
  name: 'parked at a tick edge',
  about: 'the price is at the lower edge of a band of 100,000; below it there are 15 dollars of depth',
  on: 'both',
  against: 'seller',
  wanted: { atMost: 3 },
  async play(stage) {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 15, family: 'v3', feePpm: 500 })
    stage.add('one', 100_000, [0.999, 1.3])
    await stage.block()
    await stage.ask('T')
    await stage.quiet(600)
    stage.push('one', 0.9992)
    await stage.block()
    await stage.quiet(360)
    await stage.look('T')
  },
}
