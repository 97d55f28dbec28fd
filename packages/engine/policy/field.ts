/**
 * Fields of the policy, each with its default and the rule that reads an operator's value for it.
 *
 * Objects merge key by key, a list replaces the whole list. Nothing is corrected and nothing is ignored: every field
 * is known, whole, in range and in order, or each fault is reported.
 */
import { type Count, count, type Ms, type Score } from '../units.ts'
import type { PolicyFault } from './policyError.ts'
import { isPlainObject, quote } from './received.ts'

/** Reads `value` over `base`. After a reported fault the result is meaningless. */
export type Rule<T> = (
  value: unknown,
  base: T | undefined,
  path: string,
  faults: PolicyFault[],
) => T | undefined

export type Field<T> = { readonly preset: T; readonly read: Rule<T> }

/** A check across fields that are each valid: what they must satisfy together, or null if they do. */
type Check<T> = (merged: T) => string | null

/** Longest list an operator may give: bands are read in full for every score. */
const MAX_ENTRIES = 32

export const field = <T>(preset: T, read: Rule<T>): Field<T> => ({ preset, read })

/** Several fields as one. */
export function group<T extends object>(
  fields: { readonly [K in keyof T]: Field<T[K]> },
): Field<Readonly<T>> {
  const keys = Object.keys(fields) as (keyof T & string)[]
  return {
    preset: Object.fromEntries(keys.map(key => [key, fields[key].preset])) as T,
    read: object<T>(Object.fromEntries(keys.map(key => [key, fields[key].read])) as unknown as Shape<T>),
  }
}

type Shape<T> = { readonly [K in keyof T]: Rule<T[K]> }

export function integer<T extends Count | Ms | Score>(min: T, max: T): Rule<T> {
  return (value, _base, path, faults) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
      return value as T
    return refuse(faults, path, value, `an integer from ${min} to ${max}`)
  }
}

export function object<T extends object>(shape: Shape<T>, check: Check<T> = () => null): Rule<T> {
  const keys = Object.keys(shape) as (keyof T & string)[]
  return (value, base, path, faults) => {
    if (!isPlainObject(value)) return refuse(faults, path, value, 'an object')
    const before = count(faults.length)
    const merged: Partial<T> = { ...base }
    for (const key of Object.keys(value))
      if (!Object.hasOwn(shape, key))
        refuse(faults, `${path}.${key}`, value[key], `no such key; there are ${keys.join(', ')}`)
    for (const key of keys)
      if (Object.hasOwn(value, key)) {
        const read = shape[key](value[key], base?.[key], `${path}.${key}`, faults)
        if (read !== undefined) merged[key] = read
      } else if (base === undefined) refuse(faults, `${path}.${key}`, undefined, 'a value')
    return settle(merged as T, before, check, path, faults)
  }
}

/** Any chain id may be a key. */
export function byChain<T>(rule: Rule<T>): Rule<Readonly<Record<string, T>>> {
  return (value, base, path, faults) => {
    if (!isPlainObject(value)) return refuse(faults, path, value, 'an object')
    const merged: Record<string, T> = { ...base }
    for (const key of Object.keys(value)) {
      if (!/^[1-9][0-9]{0,15}$/.test(key)) {
        refuse(faults, `${path}.${key}`, value[key], 'a chain id as key')
        continue
      }
      const read = rule(value[key], undefined, `${path}.${key}`, faults)
      if (read !== undefined) merged[key] = read
    }
    return merged
  }
}

export function list<T>(rule: Rule<T>, check: Check<readonly T[]>): Rule<readonly T[]> {
  return (value, _base, path, faults) => {
    if (!Array.isArray(value) || value.length < 1 || value.length > MAX_ENTRIES)
      return refuse(faults, path, value, `a list of 1 to ${MAX_ENTRIES} entries`)
    const before = count(faults.length)
    const entries = value.map((entry: unknown, at) => rule(entry, undefined, `${path}[${at}]`, faults))
    return settle(entries as T[], before, check, path, faults)
  }
}

export function pair<A, B>(first: Rule<A>, second: Rule<B>): Rule<readonly [A, B]> {
  return (value, _base, path, faults) => {
    if (!Array.isArray(value) || value.length !== 2)
      return refuse(faults, path, value, 'a pair [bound, score]')
    const a = first(value[0], undefined, `${path}[0]`, faults)
    const b = second(value[1], undefined, `${path}[1]`, faults)
    return a === undefined || b === undefined ? undefined : [a, b]
  }
}

/** Fields are checked together only when each of them is valid: one mistake, one fault. */
function settle<T>(
  merged: T,
  before: Count,
  check: Check<T>,
  path: string,
  faults: PolicyFault[],
): T | undefined {
  if (faults.length > before) return undefined
  const expected = check(merged)
  if (expected === null) return merged
  faults.push({ path, received: JSON.stringify(merged), expected })
  return undefined
}

function refuse(faults: PolicyFault[], path: string, value: unknown, expected: string): undefined {
  faults.push({ path, received: quote(value), expected })
}
