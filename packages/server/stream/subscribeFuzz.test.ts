/** Arbitrary subscribe frames and cursors give a subscription, or one line with the fault. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { RECORD_TYPES, SCHEMA_VERSION } from '@assay/sdk/wire'
import { jsonText, runs, spoiled, survive, text } from '../ops/testing/hostile.ts'
import { openCursor, sealCursor } from './cursor.ts'
import { parseSubscribe } from './filter.ts'

const SERVED = new Set([1, 56])
const SECRET = new Uint8Array(32).fill(7)
/** A quote of forty letters, each at most six when it is escaped, and the words around it. */
const MAX_FAULT = 400

const ID = `0x${'ab'.repeat(32)}`
const KEYS = ['filter', 'resume_cursor', 'chain_ids', 'pool_ids', 'token_ids', 'types']
const VALUES = ['[1]', '[1,56]', '[56,1]', '1', `"${ID}"`, `["${ID}"]`, `["${RECORD_TYPES[0]}"]`, '"1"', '[]']

/** The frame in its own form, and anything in its places. */
const framed = fc
  .tuple(jsonText(KEYS, VALUES), jsonText(KEYS, VALUES), jsonText(KEYS, VALUES))
  .chain(([a, b, c]) =>
    fc.constantFrom(
      `{"filter":{"chain_ids":[1],"pool_ids":${a}},"resume_cursor":${b}}`,
      `{"filter":{"chain_ids":${a},"token_ids":${b},"types":${c}}}`,
      `{"filter":${a},"resume_cursor":${b}}`,
      `{"filter":{"chain_ids":[1]},"filter":${a},"__proto__":${b}}`,
    ),
  )

/** Whole and right, so that it is not faults alone that are looked at. */
const sound = fc.constantFrom(
  '{"filter":{"chain_ids":[1]},"resume_cursor":null}',
  `{"filter":{"chain_ids":[56,1],"pool_ids":["${ID}"],"types":["${RECORD_TYPES[0]}"]},"resume_cursor":"x"}`,
)

it('a frame is a subscription to served chains or a fault', () => {
  let understood = 0
  fc.assert(
    fc.property(
      fc.oneof(framed, spoiled(framed), spoiled(sound), sound, spoiled(jsonText(KEYS, VALUES)), text(200)),
      frame => {
        const parsed = survive(() => parseSubscribe(frame, SERVED))
        if (parsed === null) expect.fail('neither')
        if ('fault' in parsed) {
          expect(parsed.fault.length).toBeLessThan(MAX_FAULT)
          return
        }
        understood++
        expect(parsed.chainIds.length).toBeGreaterThan(0)
        expect(parsed.chainIds.every(each => SERVED.has(each))).toBe(true)
        for (const id of [...parsed.poolIds, ...parsed.tokenIds]) expect(id).toMatch(/^0x[0-9a-f]{64}$/)
        for (const type of parsed.types) expect(RECORD_TYPES).toContain(type)
        expect(parsed.resumeCursor === null || typeof parsed.resumeCursor === 'string').toBe(true)
      },
    ),
    runs(2000),
  )
  expect(understood).toBeGreaterThan(0)
})

it.each([
  ['lists thirty thousand deep', `{"filter":{"chain_ids":${'['.repeat(30_000)}1${']'.repeat(30_000)}}}`],
  ['objects ten thousand deep', `{"filter":${'{"filter":'.repeat(6000)}1${'}'.repeat(6000)}}`],
  ['thirty thousand chains', `{"filter":{"chain_ids":[${'1,'.repeat(30_000)}1]}}`],
  ['ten thousand keys', `{${Array.from({ length: 6000 }, (_, n) => `"k${n}":1`).join()}}`],
  ['a key of 64 KiB', `{"${'\\u0000'.repeat(10_000)}":1}`],
])('%s are a fault', (_, frame) => {
  const parsed = survive(() => parseSubscribe(frame, SERVED))
  expect(parsed).toHaveProperty('fault')
  expect((parsed as { fault: string }).fault.length).toBeLessThan(MAX_FAULT)
})

it('a cursor is one that was sealed here or none', () => {
  const number = fc.integer({ min: 0, max: 2 ** 31 })
  const cursor = fc.record({
    epoch: number,
    chainId: number,
    sequence: fc.maxSafeNat(),
    schemaVersion: fc.constant(SCHEMA_VERSION),
    issuedAtMs: fc.maxSafeNat(),
  })
  fc.assert(
    fc.property(cursor, fc.oneof(text(), fc.base64String({ maxLength: 300 })), (made, strange) => {
      const sealed = sealCursor(SECRET, made)
      expect(survive(() => openCursor(SECRET, sealed))).toEqual(made)
      for (const other of [
        strange,
        sealed + strange,
        strange + sealed,
        sealed.slice(1),
        `${sealed}=`,
        `${sealed}\n`,
      ])
        if (other !== sealed) expect(survive(() => openCursor(SECRET, other))).toBeNull()
      // The body of one, with the tag of another.
      const body = Buffer.from(
        sealCursor(SECRET, { ...made, sequence: made.sequence + 1 }),
        'base64url',
      ).subarray(16)
      const forged = Buffer.concat([Buffer.from(sealed, 'base64url').subarray(0, 16), body])
      expect(openCursor(SECRET, forged.toString('base64url'))).toBeNull()
    }),
    runs(300),
  )
})
