import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressRule } from './publicAddress.ts'

const publicOnly = addressRule([])

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::FFFF:10.0.0.1',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::127.0.0.1',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  '4000::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  '',
  '127.1',
  '0x7f000001',
])('%s is not public', address => {
  expect(publicOnly(address)).toBe(false)
})

test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1', '2a00:1450::1'])(
  '%s is public',
  address => {
    expect(publicOnly(address)).toBe(true)
  },
)

test('an IPv4 address counts the same inside an IPv6 one, however that is written', () => {
  fc.assert(
    fc.property(fc.ipV4(), plain => {
      const [a, b, c, d] = plain.split('.').map(Number) as [number, number, number, number]
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      for (const mapped of [`::ffff:${plain}`, `::ffff:${hex}`, `0:0:0:0:0:FFFF:${hex}`])
        expect([mapped, publicOnly(mapped)]).toEqual([mapped, publicOnly(plain)])
    }),
  )
})

test('networks that the operator lists may be called, and only those', () => {
  const rule = addressRule(['10.0.0.0/8', '127.0.0.1', 'fd00::/8'])
  const asked = ['10.9.9.9', '::ffff:10.9.9.9', '127.0.0.1', 'fd00::1', '127.0.0.2', 'fc00::1', '192.168.0.1']
  expect(asked.map(rule)).toEqual([true, true, true, true, false, false, false])
})
