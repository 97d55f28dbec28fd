import { ATTACKS, judge } from '@assay/world'
import { expect, it } from 'vitest'
import { playOnChain } from './testing/attackStage.ts'

/** Three of those that only real contracts and the whole service can show; `npm run attack` has all of them. */
const SHORT = ['T1 young pool', 'T3 pushed before asked', 'T6 parked at block ends']

it.each(SHORT)('through the whole service, %s is as wanted, or open as it says', async name => {
  const attack = ATTACKS.find(each => each.name === name)
  if (attack === undefined) throw new Error(`there is no attack ${name}`)
  const { play, open } = attack
  const faults = (await playOnChain(play)).flatMap(look => judge(attack, look).faults)
  if (open === undefined) expect(faults).toEqual([])
  else expect(faults, `it holds: take out open: '${open}'`).not.toEqual([])
})
