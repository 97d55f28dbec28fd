/**
 * Values as text: JSON, with a bigint as a string that starts with `#`. A string that starts with `#` gets a second
 * one. A map or a set is the list of its entries.
 */
import { assert } from '../assert.ts'

export function write(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return `#${each}`
    if (each instanceof Map || each instanceof Set) return [...each]
    return typeof each === 'string' && each.startsWith('#') ? `#${each}` : each
  })
}

/**
 * The same with further members at the end that hold no bigint, such as published texts: without a function for every
 * value, JSON.stringify takes a third of the time.
 */
export function writeWith(value: object, plain: object): string {
  const members = JSON.stringify(plain)
  if (members.includes('"#')) return write({ ...value, ...plain })
  return `${write(value).slice(0, -1)},${members.slice(1)}`
}

export function read<Value>(text: string | undefined): Value {
  assert(text !== undefined, 'an entity the state cannot do without is missing')
  return revived(JSON.parse(text)) as Value
}

/** Revives in place: passing a function to JSON.parse takes several times as long. */
function revived(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith('#')) return value
    return value.startsWith('##') ? value.slice(1) : BigInt(value.slice(1))
  }
  if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      const meant = revived(each)
      if (meant !== each) (value as Record<string, unknown>)[key] = meant
    }
  return value
}
