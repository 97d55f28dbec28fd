/** Topics and selectors are what keccak makes of their signatures: none was copied wrong. */
import { keccak256, toBytes } from 'viem'
import { expect, test } from 'vitest'
import { FAMILIES } from '@assay/engine'
import { ANSWER_UPDATED, SELECTOR } from './abi.ts'
import { marketOf } from './families.ts'

const signatures = [
  ...FAMILIES.flatMap(family => Object.entries(marketOf(family).signatures)),
  [ANSWER_UPDATED, 'AnswerUpdated(int256,uint256,uint256)'],
]

test.each(signatures)('topic %s is keccak of %s', (topic, signature) => {
  expect(topic).toBe(keccak256(toBytes(signature)))
})

test('a parsed log has a signature, and equal topics are parsed the same in every family', () => {
  const readers = FAMILIES.flatMap(family => {
    const { logs, signatures: named } = marketOf(family)
    expect([...logs.keys()].filter(topic => !(topic in named))).toEqual([])
    return [...logs]
  })
  for (const [topic, read] of readers)
    expect(new Set(readers.flatMap(([other, each]) => (other === topic ? [each] : []))).size, read.name).toBe(
      1,
    )
})

test.each(Object.entries(SELECTOR))(
  'the selector of %s is the start of its Keccak hash',
  (signature, selector) => {
    expect(selector).toBe(keccak256(toBytes(signature)).slice(0, 10))
  },
)
