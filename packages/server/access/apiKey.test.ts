import { expect, test } from 'vitest'
import { hashOf, isSameHash, issueKey, KEY_ANYWHERE, parseKey } from './apiKey.ts'

test('R-access-1: assay_<8 id>_<43 secret><6 checksum>, all base62', () => {
  const { key, keyId, secretHash } = issueKey()
  expect(key).toMatch(/^assay_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
  expect(parseKey(key)).toEqual({ keyId })
  expect(isSameHash(secretHash, hashOf(key))).toBe(true)
  expect(KEY_ANYWHERE.test(`GET /v1/chains?key=${key} HTTP/1.1`)).toBe(true)
})

test('one wrong letter fails the checksum', () => {
  const { key } = issueKey()
  for (let at = 6; at < key.length; at++) {
    const other = key[at] === 'a' ? 'b' : 'a'
    if (key[at] === '_') continue
    expect(parseKey(`${key.slice(0, at)}${other}${key.slice(at + 1)}`)).toBeNull()
  }
})

test.each(['', 'assay_', 'assay_12345678_short', 'Bearer x', `assay_12345678_${'a'.repeat(50)}`])(
  '%s is not a key',
  text => {
    expect(parseKey(text)).toBeNull()
  },
)
