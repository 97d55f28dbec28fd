import { ATTACKS, FAMILY_ATTACKS, judge } from '@assay/world'
import { expect, it } from 'vitest'
import { playOnChain } from './testing/attack/playOnChain.ts'

/** Those that need real contracts, real tokens or the whole service most; `npm run attack` has all of them. */
const SHORT = [
  'T1 young pool',
  'T3 pushed before asked',
  'T6 parked at block ends',
  'T9 a sale tax of 30%',
  'T9b honeypot',
  'T10 rebase without a sync',
  'T12 concentrated pool ×90',
  'T13 +50% held, two pools',
  'T14 main pool leaves',
  'T16 decimals change',
  'T6 parked at block ends, Uniswap v4',
  'T6 parked at block ends, PancakeSwap v3',
  'T6 parked at block ends, Algebra v1',
  'T1 young pool, Uniswap v4',
  'T1 young pool, PancakeSwap v3',
  'T1 young pool, Algebra v1',
  'T3 pushed before asked, Uniswap v4',
  'T3 pushed before asked, PancakeSwap v3',
  'T3 pushed before asked, Algebra v1',
]

it.each(SHORT)('through the whole service, %s ends as expected, or as its known gap says', async name => {
  const attack = [...ATTACKS, ...FAMILY_ATTACKS].find(each => each.name === name)
  if (attack === undefined) throw new Error(`there is no attack ${name}`)
  const { play, open } = attack
  const looks = await playOnChain(play)
  // A pool that the service did not find would have no price, and so no fault.
  if ('family' in attack) expect(looks.at(-1)?.usd).not.toBeNull()
  const faults = looks.flatMap(look => judge(attack, look).faults)
  if (open === undefined) expect(faults).toEqual([])
  else expect(faults, `it holds: take out open: '${open}'`).not.toEqual([])
})
