/** Arbitrary identity headers give a credential, an address, or nothing. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { runs, survive, text } from '../ops/testing/hostile.ts'
import { holdsKey, issueKey, parseKey } from './apiKey.ts'
import { ClientAddresses } from './clientAddress.ts'
import { FailureThrottle } from './failureThrottle.ts'
import { isOwnOrigin, presentedIn } from './credentials.ts'

const { key, keyId } = issueKey()
const addresses = new ClientAddresses({
  trusted: ['10.0.0.0/8', 'fd00::/8'],
  allowed: ['127.0.0.1/32', '192.0.2.0/24'],
})

const from = (remoteAddress: string | undefined, headers: object) =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage

/** By a page of this origin, to the service at port 8080. */
const sentFrom = (origin: string) => ({ headers: { origin }, socket: { localPort: 8080 } })

it('a header of any text presents a credential or none, and only a whole key is one', () => {
  const around = fc.constantFrom('', ' ', '  ', '\t', ',', ';', '=', '"', 'Bearer ', '\0', '\u00a0')
  fc.assert(
    fc.property(text(200), around, around, (strange, before, after) => {
      for (const authorization of [strange, `Bearer ${strange}`, `Bearer ${before}${key}${after}`]) {
        const { bearer, cookie } =
          survive(() => presentedIn({ authorization, cookie: 'assay_session=x' }, null)) ?? {}
        // Beside a bearer, good or bad, a cookie does not count.
        expect(cookie).toBeNull()
        const parsed = survive(() => parseKey(bearer as string))
        if (bearer !== key) expect(parsed).toBeNull()
        else expect(parsed).toEqual({ keyId })
      }
      survive(() => presentedIn({ cookie: strange }, null))
      survive(() => presentedIn({ cookie: `${strange};assay_session=${before}x` }, null))
      expect(survive(() => holdsKey(`/v1/x?${strange}${key}`))).toBe(true)
      expect(survive(() => isOwnOrigin(sentFrom(strange), null))).toBe(false)
    }),
    runs(150),
  )
})

it('an origin is ours only when it matches exactly', () => {
  const part = fc.constantFrom(
    'localhost',
    '127.0.0.1',
    '[::1]',
    ':80',
    ':8080',
    ':08080',
    '.evil.example',
    '@',
    '/',
    '#',
    'http://',
    'https://',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), parts => {
      const origin = parts.join('')
      if (survive(() => isOwnOrigin(sentFrom(origin), null)) !== true) return
      expect(['localhost', '127.0.0.1', '[::1]']).toContain(new URL(origin).hostname)
      expect(new URL(origin).username).toBe('')
      expect([origin, new URL(origin).port]).toEqual([origin, '8080'])
    }),
    runs(500),
  )
})

it('a forwarded header of any text admits nobody who is not allowed, and always gives an address', () => {
  const hop = fc.oneof(
    text(30),
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom(
      '127.0.0.1',
      '::ffff:127.0.0.1',
      '10.1.1.1',
      '192.0.2.1',
      '[::1]:80',
      '127.1',
      '0x7f.1',
      '',
    ),
  )
  const forwarded = fc.array(hop, { maxLength: 6 }).map(hops => hops.join(','))
  const throttle = new FailureThrottle(systemClock)
  fc.assert(
    fc.property(
      fc.constantFrom('203.0.113.9', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', undefined),
      forwarded,
      (socket, header) => {
        const request = from(socket, { 'x-forwarded-for': header })
        const { address } = survive(() => addresses.of(request)) ?? { address: 'none' }
        expect(socket === undefined || isIP(address) !== 0).toBe(true)
        const isAllowed = survive(() => addresses.isAllowed(request))
        // Headers from an untrusted address are ignored.
        if (socket !== '10.0.0.1' && socket !== '::ffff:10.0.0.1') expect(isAllowed).toBe(false)
        survive(() => throttle.fail(address))
      },
    ),
    runs(500),
  )
})

it.each(['x-forwarded-for', 'cookie', 'authorization'])('%s of 16 KiB of one character is fast', name => {
  for (const sign of [',', ';', '=', ' ', 'a', ':', '1.', 'Bearer ', '::ffff:'])
    survive(() => {
      const headers = { [name]: sign.repeat((16 * 1024) / sign.length) }
      presentedIn(headers, null)
      addresses.of(from('10.0.0.1', headers))
    })
})
