import fc from 'fast-check'
import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { checksummed } from './checksum.ts'

test('addresses are cased as in the examples of EIP-55, from any case', () => {
  for (const address of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ]) {
    expect(checksummed(address)).toBe(address)
    expect(checksummed(address.toLowerCase())).toBe(address)
    expect(checksummed(`0x${address.slice(2).toUpperCase()}`)).toBe(address)
  }
})

test('any address is cased as a library cases it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), bytes => {
      const address = `0x${Buffer.from(bytes).toString('hex')}`
      expect(checksummed(address)).toBe(getAddress(address))
    }),
  )
})
