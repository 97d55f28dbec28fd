/** The SSRF corpus: no way to write a private address leads to one, neither as text nor through a name. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { attempt } from './attempt.ts'
import { addressRule } from './publicAddress.ts'
import { makeSecret } from './signature.ts'
import { type Resolve, urlFault } from './target.ts'
import { MANNERS, Receiver } from './testing/receiver.ts'

const publicOnly = addressRule([])
const here = addressRule(['127.0.0.1'])

let receiver: Receiver
beforeAll(async () => {
  receiver = await Receiver.open()
})
afterAll(() => receiver.close())

const webhook = (url: string) => ({
  url,
  secret: makeSecret(),
  previousSecret: null,
  previousUntilMs: null,
})
const MESSAGE = { id: 'msg_1', body: '{}' }
const nobody: Resolve = async name => {
  throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
}

/** Texts that lead to this machine or a private network in some parser. */
const HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '0177.0.0.01',
  '017700000001',
  '0x7f.0x0.0x0.0x1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '0xa9fea9fe',
  '169.254.169.254',
  '025177524776',
  '192.168.1',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fd00::1]',
  '[fe80::1]',
  '[fe80::1%25eth0]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'ｌocalhost',
]

test.each(HOSTS.flatMap(host => [`http://${host}/`, `https://${host}:8443/x?y`]))(
  '%s is refused when it is registered',
  url => {
    expect(urlFault(url, publicOnly)).not.toBeNull()
  },
)

test.each([
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  '//example.com/',
  'example.com',
  '',
  'http://',
  'https://user@example.com/',
  'https://user:secret@example.com/',
  'https://@example.com/',
  'https://:@example.com/',
  'https://example.com#@127.0.0.1/',
  'https://example.com\\@127.0.0.1/',
  'http:\\\\127.0.0.1/',
  'https://exam\tple.com/',
  'https://example.com/\n',
  ' https://example.com/',
  'https://example.com:99999/',
  `https://example.com/${'a'.repeat(2048)}`,
])('%s is not a callable URL', url => {
  expect(urlFault(url, publicOnly)).not.toBeNull()
})

test.each(['https://hooks.example.com/a?b=c', 'http://1.1.1.1:8080/', 'https://[2606:4700::1111]/'])(
  '%s may be called',
  url => {
    expect(urlFault(url, publicOnly)).toBeNull()
  },
)

test.each([
  ['a private one', ['10.0.0.1']],
  ['this machine', ['127.0.0.1']],
  ['this machine in IPv6', ['::1']],
  ['a mapped one', ['::ffff:127.0.0.1']],
  ['a public one and a private one behind it', ['1.1.1.1', '192.168.0.1']],
  ['one of a network card', ['fe80::1%lo']],
  ['none', []],
])('a name with %s is refused before a byte is sent', async (_, addresses) => {
  const { length } = receiver.received
  const sending = { isAllowed: publicOnly, resolve: async () => addresses, clock: systemClock }
  const { status, error } = await attempt(sending, webhook(`http://a.example:${receiver.port}/`), MESSAGE)
  expect([status, error]).toEqual([null, expect.stringMatching(/a\.example (leads to|has no address)/)])
  expect(receiver.received.length).toBe(length)
})

test('a name is resolved once an attempt, and the connection goes to the checked address whatever the name resolves to next', async () => {
  const asked: string[] = []
  // Allowed when it is judged, private from then on: resolving twice would connect there.
  const resolve: Resolve = async name => {
    asked.push(name)
    return asked.length % 2 === 1 ? ['127.0.0.1'] : ['127.0.0.2']
  }
  const sending = { isAllowed: here, resolve, clock: systemClock }
  const url = `http://rebind.example:${receiver.port}/`
  expect(await attempt(sending, webhook(url), MESSAGE)).toEqual({ status: 204, error: null })
  expect(receiver.received.at(-1)?.headers['host']).toBe(`rebind.example:${receiver.port}`)
  expect(await attempt(sending, webhook(url), MESSAGE)).toMatchObject({ status: null })
  expect(asked).toEqual(['rebind.example', 'rebind.example'])
})

test('a name that has no address is reported as such', async () => {
  const sending = { isAllowed: here, resolve: nobody, clock: systemClock }
  const { error } = await attempt(sending, webhook('https://gone.example/'), MESSAGE)
  expect(error).toBe('its host name cannot be resolved (ENOTFOUND)')
})

test.each([301, 302, 303, 307, 308])('a redirect (%i) is a failure and is not followed', async status => {
  let visits = 0
  const inside = createServer((_, answer) => {
    visits += 1
    answer.end()
  })
  await new Promise<void>(resolve => inside.listen(0, '127.0.0.1', resolve))
  const location = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/`
  receiver.manner = () => answer => void answer.writeHead(status, { location }).end()
  const sending = { isAllowed: here, resolve: nobody, clock: systemClock }
  const posted = await attempt(sending, webhook(receiver.url), MESSAGE)
  expect(posted).toEqual({ status, error: `status ${status}: redirects are not followed` })
  expect(visits).toBe(0)
  receiver.manner = () => MANNERS.well
  await new Promise(resolve => inside.close(resolve))
})

test.each([
  ['failing', 500, 'status 500'],
  ['cut', 200, 'the response was cut short'],
  ['dropped', null, 'the connection failed (ECONNRESET)'],
  ['endless', 200, 'the response is longer than 65536 bytes'],
  ['slow', 200, null],
] as const)('a response that is %s', async (manner, status, error) => {
  receiver.manner = () => MANNERS[manner]
  const sending = { isAllowed: here, resolve: nobody, clock: systemClock }
  expect(await attempt(sending, webhook(receiver.url), MESSAGE)).toEqual({
    status,
    error: error === 'the response was cut short' ? (expect.any(String) as string) : error,
  })
  receiver.manner = () => MANNERS.well
})

test('an attempt that is aborted ends, answered or not, and so does a look-up that never ends', async () => {
  receiver.manner = () => () => undefined
  const stopping = new AbortController()
  const sending = { isAllowed: here, resolve: () => new Promise<never>(() => undefined), clock: systemClock }
  const [silent, unresolved] = [receiver.url, 'http://never.example/'].map(url =>
    attempt(sending, webhook(url), MESSAGE, stopping.signal),
  )
  stopping.abort()
  expect(await silent).toMatchObject({ status: null, error: expect.any(String) })
  expect(await unresolved).toMatchObject({ status: null, error: 'its host name was not resolved in time' })
  receiver.manner = () => MANNERS.well
})
