/** Arbitrary URLs, queries, page cursors and bodies give a value within bounds, or 400 with a short sentence. */
import type { FastifyRequest } from 'fastify'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePolicy } from '@assay/engine'
import {
  BackfillRequest,
  BatchRequest,
  DecimalsRequest,
  KeyRequest,
  LimitsRequest,
  PolicyRequest,
  RetentionRequest,
} from '@assay/sdk/wire'
import { jsonText, runs, spoiled, survive, text } from '../../ops/testing/hostile.ts'
import { RequestError } from './apiError.ts'
import { bodyOf } from './body.ts'
import { openPage, sealPage } from './pageCursor.ts'
import { addressIn, integerIn, Params } from './params.ts'
import { malformed, searchOf } from './request.ts'

/** What a refusal may quote of what was sent. */
const MAX_MESSAGE = 700

function isOwn(failure: unknown): boolean {
  if (!(failure instanceof RequestError)) return false
  expect([400, 415]).toContain(failure.status)
  expect(failure.message.length).toBeLessThan(MAX_MESSAGE)
  return true
}

const requestTo = (url: string) => ({ url }) as FastifyRequest

describe('a query', () => {
  const KNOWN = ['limit', 'cursor', 'token_address', 'at_ms']
  const piece = fc.tuple(
    fc.oneof(fc.constantFrom(...KNOWN), text(20)),
    fc.constantFrom('=', '', '==', '%3D'),
    text(80),
  )

  it('of any text gives values within bounds or 400', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 4 }),
        fc.constantFrom('&', ';', '&&', '?', '#'),
        (pieces, joint) => {
          const url = `/v1/tokens?${pieces.map(each => each.join('')).join(joint)}`
          survive(() => {
            const params = new Params(searchOf(requestTo(url)), KNOWN, malformed)
            const limit = params.integer('limit', 1, 500)
            if (limit !== null) expect(limit >= 1 && limit <= 500 && Number.isInteger(limit)).toBe(true)
            const address = params.address('token_address')
            if (address !== null) expect(address).toMatch(/^0x[0-9a-f]{40}$/)
          }, isOwn)
        },
      ),
      runs(600),
    )
  })

  it('of eight thousand characters is fast', () => {
    for (const sign of ['&', '=', '%', '%ff', 'limit=1&', '+', ';', '?'])
      survive(
        () => new Params(searchOf(requestTo(`/v1/tokens?${sign.repeat(8000)}`)), KNOWN, malformed),
        isOwn,
      )
  })
})

it('a path segment is a valid number or address, or 400', () => {
  const number = fc.oneof(
    text(),
    fc.constantFrom('0', '1', '007', '1.0', '+1', '1_0', '9007199254740991', '9007199254740992'),
  )
  const address = fc.oneof(
    text(),
    fc.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    fc.stringMatching(/^0x[0-9a-f]{38,42}$/),
    fc.constant('0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'),
  )
  fc.assert(
    fc.property(number, address, (digits, hex) => {
      const value = survive(() => integerIn('chain_id', digits, 0, Number.MAX_SAFE_INTEGER, malformed), isOwn)
      if (value !== null) expect(`${value}`).toBe(digits)
      const found = survive(() => addressIn('token_address', hex, malformed), isOwn)
      if (found !== null) expect(found).toBe(hex.toLowerCase())
    }),
    runs(600),
  )
})

it('a page cursor is one of this query or 400', () => {
  const key = new Uint8Array(32).fill(9)
  const place = fc.array(fc.oneof(fc.maxSafeNat(), fc.stringMatching(/^[ -~]{0,40}$/)), { maxLength: 4 })
  fc.assert(
    fc.property(place, text(), text(), (position, query, strange) => {
      const sealed = sealPage(key, query, position)
      // Nobody is sent a longer one: positions are numbers and addresses.
      if (sealed.length <= 400) expect(survive(() => openPage(key, query, sealed))).toEqual(position)
      for (const other of [strange, sealed + strange, strange + sealed, sealed.slice(0, -1)])
        if (other !== sealed) expect(survive(() => openPage(key, query, other), isOwn)).toBeNull()
      expect(survive(() => openPage(key, `${query} `, sealed), isOwn)).toBeNull()
      expect(survive(() => openPage(new Uint8Array(32), query, sealed), isOwn)).toBeNull()
    }),
    runs(200),
  )
})

describe('a body', () => {
  const SCHEMAS = {
    BackfillRequest,
    BatchRequest,
    DecimalsRequest,
    KeyRequest,
    LimitsRequest,
    PolicyRequest,
    RetentionRequest,
  }
  const KEYS = Object.values(SCHEMAS).flatMap(schema =>
    Object.keys((schema as { properties?: object }).properties ?? {}),
  )
  const VALUES = ['1', '"read"', '["read"]', '[{"chain_id":1,"token_address":"0x00"}]', '1e3']
  const bodies = fc
    .oneof(jsonText(KEYS, VALUES), spoiled(jsonText(KEYS, VALUES)))
    .map(each => Buffer.from(each))
  const type = fc.constantFrom(
    'application/json',
    'application/json',
    'APPLICATION/JSON; charset=x',
    'text/plain',
    undefined,
  )

  it.each(Object.entries(SCHEMAS))('for %s of any bytes fits or is refused', (_, schema) => {
    fc.assert(
      fc.property(
        fc.oneof(
          bodies,
          fc.uint8Array({ maxLength: 60 }).map(each => Buffer.from(each)),
        ),
        type,
        (body, contentType) => {
          const headers = contentType === undefined ? {} : { 'content-type': contentType }
          const value = survive(
            () => bodyOf(requestOf(body, headers), schema as typeof RetentionRequest),
            isOwn,
          )
          if (value !== null) expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
        },
      ),
      runs(200),
    )
  })

  it('of a policy is a policy or every fault of it', () => {
    const POLICY = Object.keys(mergePolicy({}))
    fc.assert(
      fc.property(jsonText(POLICY, ['1', '[]', '{}', '[[1,1]]']), body => {
        const value: unknown = JSON.parse(body)
        survive(
          () => mergePolicy(value),
          failure => (failure as Error).name === 'PolicyError',
        )
      }),
      runs(300),
    )
  })

  it('nested as deep as 64 KiB allow is refused', () => {
    for (const body of [
      '['.repeat(32_000) + ']'.repeat(32_000),
      `${'{"tokens":'.repeat(5000)}1${'}'.repeat(5000)}`,
    ])
      expect(
        survive(
          () => bodyOf(requestOf(Buffer.from(body), { 'content-type': 'application/json' }), BatchRequest),
          isOwn,
        ),
      ).toBeNull()
  })
})

const requestOf = (body: Buffer, headers: object) => ({ body, headers }) as unknown as FastifyRequest
