/** Topics and selectors are what keccak makes of their signatures: none was copied wrong. */
import { keccak256, toBytes } from 'viem'
import { expect, test } from 'vitest'
import { SELECTOR, SIGNATURE, TOPIC } from './abi.ts'

test.each(Object.entries(SIGNATURE))('topic %s is keccak of %s', (name, signature) => {
  expect(TOPIC[name as keyof typeof TOPIC]).toBe(keccak256(toBytes(signature)))
})

test.each(Object.entries(SELECTOR))('selector of %s', (signature, selector) => {
  expect(selector).toBe(keccak256(toBytes(signature)).slice(0, 10))
})
