import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SCHEMA_VERSION } from '@assay/sdk/wire'
import { checkCursor, CURSOR_LIFETIME_MS, openCursor, sealCursor } from './cursor.ts'

const SECRET = new Uint8Array(32).fill(7)
const NOW = 1_700_000_000_000
const cursor = { epoch: 0, chainId: 1, sequence: 500, schemaVersion: SCHEMA_VERSION, issuedAtMs: NOW }
const bounds = { epoch: 0, oldest: 100, head: 1000 }
const wanted = { chainIds: [1], isNarrowed: false }

test('a cursor decodes to what was sealed', () => {
  expect(openCursor(SECRET, sealCursor(SECRET, cursor))).toEqual(cursor)
})

test('anything this database did not issue is rejected', () => {
  const sealed = sealCursor(SECRET, cursor)
  for (let at = 0; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    const forged = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`
    expect(openCursor(SECRET, forged)).toBeNull()
    expect(openCursor(SECRET, sealed + other)).toBeNull()
  }
  expect(openCursor(new Uint8Array(32), sealed)).toBeNull()
  fc.assert(fc.property(fc.string(), text => openCursor(SECRET, text) === null))
})

test.each([
  ['tampered', null, bounds, wanted, 'INVALID_CURSOR'],
  ['of another epoch', { ...cursor, epoch: 1 }, bounds, wanted, 'INVALID_CURSOR'],
  ["ahead of the log's head", { ...cursor, sequence: 1001 }, bounds, wanted, 'INVALID_CURSOR'],
  ['of another schema', { ...cursor, schemaVersion: SCHEMA_VERSION + 1 }, bounds, wanted, 'SCHEMA_MISMATCH'],
  [
    'older than 72 h',
    { ...cursor, issuedAtMs: NOW - CURSOR_LIFETIME_MS - 1 },
    bounds,
    wanted,
    'EXPIRED_CURSOR',
  ],
  ['of another chain', cursor, bounds, { chainIds: [56], isNarrowed: false }, 'FILTER_MISMATCH'],
  ['with two chains', cursor, bounds, { chainIds: [1, 56], isNarrowed: false }, 'FILTER_MISMATCH'],
  ['with a narrower filter', cursor, bounds, { chainIds: [1], isNarrowed: true }, 'FILTER_MISMATCH'],
  ['no longer retained', { ...cursor, sequence: 98 }, bounds, wanted, 'REPLAY_UNAVAILABLE'],
  ['just retained', { ...cursor, sequence: 99 }, bounds, wanted, null],
  [
    'expired and no longer retained',
    { ...cursor, sequence: 1, issuedAtMs: 0 },
    bounds,
    wanted,
    'EXPIRED_CURSOR',
  ],
] as const)('R-cursor-1: a cursor %s', (_, given, log, filter, reason) => {
  expect(checkCursor(given, log, filter, NOW)).toBe(reason)
})
