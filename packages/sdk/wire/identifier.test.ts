import { expect, test } from 'vitest'
import { conformance } from '../testing/conformance.ts'
import { AddressInput, Id, isAddress, toId } from './identifier.ts'

const CHECKSUMMED = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'

test('an address is 0x and 40 hex digits of any case', () => {
  for (const good of [CHECKSUMMED, CHECKSUMMED.toLowerCase(), `0x${'F'.repeat(40)}`]) {
    expect(isAddress(good)).toBe(true)
    expect(conformance(AddressInput)(good)).toEqual([])
  }
  for (const bad of [
    '',
    '0x',
    CHECKSUMMED.slice(2),
    `${CHECKSUMMED}0`,
    `0X${CHECKSUMMED.slice(2)}`,
    `${CHECKSUMMED}\n`,
  ]) {
    expect(isAddress(bad), JSON.stringify(bad)).toBe(false)
    expect(conformance(AddressInput)(bad), JSON.stringify(bad)).not.toEqual([])
  }
})

test('R-wire-3: an id is the address in lower case, left-padded to 32 bytes', () => {
  const id = toId(CHECKSUMMED)
  expect(id).toBe('0x000000000000000000000000c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2')
  expect(conformance(Id)(id)).toEqual([])
})

test('a string that is not an address has no id', () => {
  expect(() => toId('0x12')).toThrow('"0x12" is not an address')
})
