/**
 * The name of a policy, carried by every record to identify the numbers it was computed with.
 *
 * Derived from the content alone. The same values give the same version on every machine, in whatever order or
 * formatting they were written; any other value gives another version.
 */
import { assert } from '../assert.ts'
import { namedBy } from './former.ts'
import type { Policy } from './policy.ts'

/** FNV-1a, 128 bits (draft-eastlake-fnv). Names content and does not protect it: nobody gains from a collision. */
const FNV_OFFSET = 0x6c62272e07bb014262b821756295c58dn
const FNV_PRIME = 0x0000000001000000000000000000013bn
const FNV_BITS = 128

export function policyVersion(policy: Policy): string {
  return `p${fnv1a(canonical(namedBy(policy)))
    .toString(16)
    .padStart(32, '0')}`
}

/** JSON without spaces, keys sorted at every level. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`
}

function fnv1a(text: string): bigint {
  let hash = FNV_OFFSET
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at)
    assert(byte < 128, () => `a policy is written in ASCII, not ${JSON.stringify(text[at])}`)
    hash = BigInt.asUintN(FNV_BITS, (hash ^ BigInt(byte)) * FNV_PRIME)
  }
  return hash
}
