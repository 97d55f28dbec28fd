/** A token first requested after its price moved far: its pool counts for what it was before the move. */
import { expect, it } from 'vitest'
import { playOnChain } from './testing/attack/playOnChain.ts'

it('R-history-6: the depth before a far move counts, although one swap moved the price away from it', async () => {
  const [look] = await playOnChain(async stage => {
    stage.token('T')
    await stage.pool('one', { of: 'T', depth: 3_000, family: 'v3', band: [0.9, 1.1] })
    await stage.quiet(3_000, 12)
    stage.add('one', 60, [0.1, 100])
    stage.push('one', 90)
    stage.add('one', 3_000, [0.9, 1.1])
    await stage.block()
    await stage.ask('T')
    await stage.look('T')
  })
  // Without that depth the average would be some 50 dollars, too little for the move to be a trade that counts.
  expect(look?.usd).toBeGreaterThan(50)
  expect(look?.codes).not.toContain('NO_RECENT_TRADE')
})
