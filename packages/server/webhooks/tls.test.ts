/** Receivers with TLS: only one whose certificate is trusted, and is of the name that was registered, gets a byte. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { attempt } from './attempt.ts'
import { addressRule } from './publicAddress.ts'
import { makeSecret } from './signature.ts'
import { SELF_SIGNED } from './testing/selfSigned.ts'

const trusted = getCACertificates('default')
const visits: string[] = []
const server = createServer(SELF_SIGNED, (request, answer) => {
  visits.push(String(request.headers.host))
  answer.writeHead(204).end()
})
beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
afterEach(() => {
  setDefaultCACertificates(trusted)
  visits.length = 0
})
afterAll(() => new Promise(resolve => server.close(resolve)))

const sending = {
  isAllowed: addressRule(['127.0.0.1']),
  resolve: async () => ['127.0.0.1'],
  clock: systemClock,
}
const sent = (name: string) => {
  const url = `https://${name}:${(server.address() as AddressInfo).port}/`
  const webhook = { url, secret: makeSecret(), previousSecret: null, previousUntilMs: null }
  return attempt(sending, webhook, { id: 'msg_1', body: '{}' })
}
const refused = (code: string) => ({
  status: null,
  error: `its certificate is not valid for the host name, or not from an authority that this machine trusts (${code})`,
})

test('a self-signed certificate is refused with its reason, and nothing is sent', async () => {
  expect(await sent('hooks.example')).toEqual(refused('DEPTH_ZERO_SELF_SIGNED_CERT'))
  expect(visits).toEqual([])
})

test('one of an authority that the machine trusts is accepted, although the connection goes to the address', async () => {
  setDefaultCACertificates([...trusted, SELF_SIGNED.cert])
  expect(await sent('hooks.example')).toEqual({ status: 204, error: null })
  expect(visits).toEqual([`hooks.example:${(server.address() as AddressInfo).port}`])
})

test('a trusted one of another name is refused', async () => {
  setDefaultCACertificates([...trusted, SELF_SIGNED.cert])
  expect(await sent('other.example')).toEqual(refused('ERR_TLS_CERT_ALTNAME_INVALID'))
  expect(await sent('127.0.0.1')).toEqual(refused('ERR_TLS_CERT_ALTNAME_INVALID'))
  expect(visits).toEqual([])
})
