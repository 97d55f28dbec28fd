import { encodeAbiParameters, toHex } from 'viem'
import { expect, test } from 'vitest'
import { textFrom } from './tokenReader.ts'

const string = (text: string) => encodeAbiParameters([{ type: 'string' }], [text])

test('a name may be a string or a bytes32', () => {
  expect(textFrom(string('Lark'))).toBe('Lark')
  expect(textFrom(toHex('MKR', { size: 32 }))).toBe('MKR')
})

test('a name is text for people: no control characters, at most 64 of them, absent when empty', () => {
  expect(textFrom(string('a\u0000b\u202Ec\n'))).toBe('abc')
  expect(textFrom(string('x'.repeat(500)))).toHaveLength(64)
  expect(textFrom(string(''))).toBeNull()
  expect(textFrom(null)).toBeNull()
  expect(textFrom('0x')).toBeNull()
})

test('a length that lies does not read past the answer', () => {
  const lying =
    `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}${Buffer.from('short').toString('hex').padEnd(64, '0')}` as const
  expect(textFrom(lying)).toBe('short')
})
