/**
 * An API key: `assay_<8 public id>_<43 secret><6 checksum>`, all base62. With the checksum, scanners and this service
 * can recognise a mistyped key without reading the store. Only the id and a SHA-256 of the whole key are kept.
 */
import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 8
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const FORMAT = /^assay_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/
/** Matches a key anywhere in a text: none may ever be logged or sent back. */
export const KEY_ANYWHERE = /assay_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/

/** Whether a URL contains a key, plain or percent-encoded. */
export function holdsKey(url: string): boolean {
  if (KEY_ANYWHERE.test(url)) return true
  try {
    return KEY_ANYWHERE.test(decodeURIComponent(url))
  } catch {
    return false
  }
}

export type NewKey = { readonly keyId: string; readonly key: string; readonly secretHash: Uint8Array }

export function issueKey(): NewKey {
  const keyId = randomText(ID_LENGTH)
  const body = `assay_${keyId}_${randomText(SECRET_LENGTH)}`
  const key = `${body}${checksum(body)}`
  return { keyId, key, secretHash: hashOf(key) }
}

/** The id of a well-formed key, or null. */
export function parseKey(key: string): { readonly keyId: string } | null {
  const match = FORMAT.exec(key)
  if (match === null || checksum(key.slice(0, -CHECKSUM_LENGTH)) !== match[3]) return null
  return { keyId: match[1] as string }
}

export const hashOf = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** Compares in constant time, so the duration does not reveal where they differ. */
export const isSameHash = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b)

export function randomText(length: number): string {
  let text = ''
  // Bytes from 248 up would favour the first letters.
  while (text.length < length)
    for (const byte of randomBytes(length))
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
  return text
}

/** Six letters computed from everything before them. */
export function checksum(body: string): string {
  let rest = createHash('sha256').update(body).digest().readUIntBE(0, 6)
  let text = ''
  for (let n = 0; n < CHECKSUM_LENGTH; n++) {
    text += ALPHABET[rest % 62]
    rest = Math.floor(rest / 62)
  }
  return text
}
