import { expect, it } from 'vitest'
import { adapterOf } from './families.ts'
import { FAMILIES } from './familyNames.ts'

it('R-pool-1: lists the members of every adapter in the same order, so that they have one object shape', () => {
  const members = Object.keys(adapterOf('amm_v2'))
  for (const family of FAMILIES) expect(Object.keys(adapterOf(family)), family).toEqual(members)
})
