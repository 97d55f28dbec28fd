/** Whatever a program written for another service sends: values in their bounds, an absence with a reason, or 400. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs, survive, text } from '../../ops/testing/hostile.ts'
import { RequestError } from '../plumbing/apiError.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Absences } from './absences.ts'
import { MOST_TOKENS, namesIn, tokensIn } from './addresses.ts'
import { batchIn } from './defillama/batch.ts'
import { coinsIn } from './defillama/coins.ts'
import { durationIn, momentIn } from './defillama/span.ts'
import { belowPrefix } from './rootDoor.ts'
import { COMPAT } from './vendor.ts'

const WETH = `0x${'a1'.repeat(20)}`
const context = {
  chains: new Map([[1, { config: { chainId: 1, wrappedNative: WETH } }]]),
} as unknown as HttpContext

function isOwn(failure: unknown): boolean {
  if (!(failure instanceof RequestError)) return false
  expect(failure.status).toBe(400)
  expect(failure.message.length).toBeLessThan(300)
  return true
}

const address = fc.stringMatching(/^0x[0-9a-f]{40}$/)
const name = fc.oneof(
  text(80),
  address,
  address.map(each => `ethereum:${each}`),
  fc.constantFrom('ethereum:', ':', '1:0x', `ethereum:0x${'0'.repeat(40)}`, '__proto__', 'coingecko:bitcoin'),
)
const list = fc.array(name, { maxLength: 130 }).map(each => each.join(','))

it('a list of tokens or coins gives at most a hundred addresses, and reasons for the rest', () => {
  fc.assert(
    fc.property(list, each => {
      const absences = new Absences()
      const tokens = survive(() => tokensIn(each, 1, absences), isOwn)
      const coins = survive(() => coinsIn(context, each, absences), isOwn)
      for (const { token } of [...(tokens ?? []), ...(coins ?? [])])
        expect(token).toEqual({ chainId: 1, tokenAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/) })
      expect((tokens ?? []).length).toBeLessThanOrEqual(MOST_TOKENS)
      // A header is one line of plain signs, of bounded length, whatever was asked for.
      expect(absences.text() ?? '').toMatch(/^[A-Za-z0-9_.:=#?(), -]{0,2000}$/)
    }),
    runs(400),
  )
})

it('a hundred addresses fit into a URL, and into a list; one more is refused', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => `ethereum:0x${at.toString(16).padStart(40, '0')}`)
  expect(`/compat/defillama/prices/current/${hundred.map(encodeURIComponent).join(',')}`.length).toBeLessThan(
    8192,
  )
  expect(namesIn(hundred.join(','), 'coins')).toHaveLength(100)
  expect(() => namesIn([...hundred, 'ethereum:0x1'].join(','), 'coins')).toThrow('has 101 entries')
})

it('times and durations are within bounds', () => {
  const value = fc.oneof(text(20), fc.stringMatching(/^\d{1,12}[smhdwWDHMy]?$/))
  fc.assert(
    fc.property(value, each => {
      const duration = survive(() => durationIn(new URLSearchParams({ period: each }), 'period'), isOwn)
      if (duration !== null) expect(duration >= 1000 && duration <= 3.2e11).toBe(true)
      const moment = survive(() => momentIn(each, 'timestamp'), isOwn)
      if (moment !== null) expect(Number.isSafeInteger(moment) && moment >= 0).toBe(true)
    }),
    runs(600),
  )
})

it('a batch asks for a bounded number of moments, under plain keys', () => {
  const moments = fc.oneof(
    fc.array(fc.oneof(fc.nat(), fc.double(), text(5)), { maxLength: 6 }),
    text(10),
    fc.constant(null),
  )
  const sent = fc.oneof(
    text(200),
    fc
      .array(fc.tuple(name, moments), { maxLength: 120 })
      .map(entries => JSON.stringify(Object.fromEntries(entries))),
    fc.constantFrom('{"__proto__":[1]}', '[]', 'null', `{"a":[${'1,'.repeat(600)}1]}`),
  )
  fc.assert(
    fc.property(sent, each => {
      const wanted = survive(() => batchIn(each), isOwn)
      if (wanted === null) return
      const all = [...wanted.values()].flat()
      expect(wanted.size <= 100 && all.length <= 500).toBe(true)
      expect(all.every(ms => Number.isSafeInteger(ms) && ms >= 0)).toBe(true)
    }),
    runs(400),
  )
})

it('a path of the second port is below a prefix, whatever it is', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        text(60),
        fc.constantFrom(
          '/v1/chains',
          '/api/v3/ping',
          '//v1/chains',
          '/../v1/chains',
          'http://x/v1/chains',
          '*',
        ),
      ),
      url => {
        expect(belowPrefix(url).startsWith(COMPAT)).toBe(true)
      },
    ),
    runs(300),
  )
})
