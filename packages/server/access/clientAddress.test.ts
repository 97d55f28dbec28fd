import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { ClientAddresses } from './clientAddress.ts'

const from = (remoteAddress: string, headers: Record<string, string> = {}) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage
const forwarded = (text: string) => ({ 'x-forwarded-for': text })

const plain = new ClientAddresses({ trusted: [], allowed: ['127.0.0.1/32', '::1/128', '10.1.0.0/16'] })
const proxied = new ClientAddresses({ trusted: ['10.0.0.0/8', 'fd00::/8'], allowed: ['203.0.113.7'] })

it('without trusted proxies the socket is the client, whatever a header says', () => {
  expect(plain.of(from('198.51.100.1', forwarded('127.0.0.1')))).toEqual({
    address: '198.51.100.1',
    isClaimed: true,
  })
  expect(plain.of(from('198.51.100.1'))).toEqual({ address: '198.51.100.1', isClaimed: false })
})

it('R-access-4: behind trusted proxies it is the right-most entry that is not one of them', () => {
  const client = (text: string) => proxied.of(from('10.0.0.1', forwarded(text))).address
  expect(client('203.0.113.7')).toBe('203.0.113.7')
  expect(client('127.0.0.1, 203.0.113.7')).toBe('203.0.113.7')
  expect(client('127.0.0.1, 203.0.113.7, 10.2.3.4')).toBe('203.0.113.7')
  expect(client('203.0.113.7,fd00::1 ,10.9.9.9')).toBe('203.0.113.7')
  expect(client('10.1.1.1, 10.2.2.2')).toBe('10.0.0.1')
  expect(client('203.0.113.7, rubbish')).toBe('10.0.0.1')
})

it('IPv4 on a socket of both families is IPv4', () => {
  expect(proxied.of(from('::ffff:10.0.0.1', forwarded('::ffff:203.0.113.7'))).address).toBe('203.0.113.7')
  expect(plain.isAllowed(from('::ffff:127.0.0.1'))).toBe(true)
})

it('R-access-4: an allowlist admits its networks and no forged address', () => {
  expect(plain.isAllowed(from('127.0.0.1'))).toBe(true)
  expect(plain.isAllowed(from('::1'))).toBe(true)
  expect(plain.isAllowed(from('10.1.255.255'))).toBe(true)
  expect(plain.isAllowed(from('10.2.0.0'))).toBe(false)
  expect(plain.isAllowed(from('127.0.0.1', forwarded('127.0.0.1')))).toBe(false)
  expect(plain.isAllowed(from('127.0.0.1', { forwarded: 'for=127.0.0.1' }))).toBe(false)
  expect(proxied.isAllowed(from('10.0.0.1', forwarded('203.0.113.7')))).toBe(true)
  expect(proxied.isAllowed(from('10.0.0.1', forwarded('203.0.113.8')))).toBe(false)
  expect(proxied.isAllowed(from('203.0.113.7', forwarded('203.0.113.7')))).toBe(false)
  expect(plain.isAllowed(from(''))).toBe(false)
})

it.each(['10.0.0.0/33', 'localhost', '10.0.0', '::1/129', '', '1.2.3.4/x'])('%j is refused by name', text => {
  expect(() => new ClientAddresses({ trusted: [text], allowed: [] })).toThrow(
    `${JSON.stringify(text)} is neither an address nor a network such as 10.0.0.0/8`,
  )
})
