/** What the score is for: a healthy token reaches 8 on a live chain, through the whole service. */
import type { PoolSpec } from '@assay/world'
import { expect, it } from 'vitest'
import { playOnChain } from './testing/attack/playOnChain.ts'

const DEPTH = 400_000

type Pools = readonly [PoolSpec, PoolSpec]
const pairs: readonly (readonly [string, Pools])[] = [
  [
    'a pair and a concentrated pool',
    [
      { of: 'T', depth: DEPTH },
      { of: 'T', depth: DEPTH, family: 'v3', factory: 'b' },
    ],
  ],
  [
    'two pairs, in two stables',
    [
      { of: 'T', depth: DEPTH },
      { of: 'T', with: 'USDT', depth: DEPTH, factory: 'b' },
    ],
  ],
]

const played = (pools: Pools, hasAnchors: boolean) =>
  playOnChain(async stage => {
    stage.token('T')
    await stage.pool('one', pools[0])
    await stage.pool('two', pools[1])
    if (hasAnchors) await stage.anchors(2_000_000)
    await stage.ask('T')
    await stage.quiet(120, 12)
    await stage.look('T')
  })

it.each(pairs)('%s of two factories reach 8 once a sale was tried', async (_, pools) => {
  const [look] = await played(pools, true)
  expect(look?.score).toBe(8)
  for (const cap of ['SELLABILITY_UNKNOWN', 'TRANSFER_TAX', 'SINGLE_SOURCE'])
    expect(look?.codes).not.toContain(cap)
})

it('and 7 where no sale can be tried', async () => {
  const [look] = await played((pairs[0] as (typeof pairs)[0])[1], false)
  expect(look).toMatchObject({ score: 7, codes: expect.arrayContaining(['SELLABILITY_UNKNOWN']) })
})
