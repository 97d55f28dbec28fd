/** Reads an untrusted value by a field of the schema. A value with a fault is replaced, so that reading continues. */
import { Secret } from '../ops/secret.ts'
import { FaultLog, join, schemeOf } from './faultLog.ts'
import { type Field, type FieldOf, type Fields, fieldsOf, type Given } from './field.ts'

/** Paths in the document are relative to `folder`. */
type Reading = { readonly faults: FaultLog; readonly folder: string; readonly root: Record<string, unknown> }

export function read<Value>(field: Field<Value>, document: unknown, faults: FaultLog, folder: string): Value {
  return valueOf(field, document, '', { faults, folder, root: {} }) as Value
}

function valueOf(field: Field, value: unknown, path: string, reading: Reading): unknown {
  const given = givenOr(field, value, reading)
  if (given === null && (value === undefined || field.isNullable === true)) return null
  const { faults } = reading
  const isRead = (isGood: boolean, expected: string): boolean => {
    if (!isGood) faults.add(path, given, expected)
    return isGood
  }
  switch (field.kind) {
    case 'integer': {
      const [min, max, unit] = field.range
      const isGood = typeof given === 'number' && Number.isSafeInteger(given) && given >= min && given <= max
      const expected = `an integer from ${min} to ${max}${unit === undefined ? '' : `, in ${unit}`}`
      return isRead(isGood, expected) ? given : (field.default ?? min)
    }
    case 'flag':
      return isRead(typeof given === 'boolean', 'true or false') ? given : false
    case 'choice': {
      const isGood = field.choices.includes(given as string)
      return isRead(isGood, `one of ${field.choices.join(', ')}`) ? given : field.choices[0]
    }
    case 'text': {
      const isGood = typeof given === 'string' && field.format[0].test(given)
      const good = isRead(isGood, field.format[1]) ? given : field.default
      return textOf(field, typeof good === 'string' ? good : '', path, reading)
    }
    case 'url':
      return new Secret(urlOf(field.schemes, given, path, faults))
    case 'list': {
      const entries = Array.isArray(given) ? given : []
      if (given !== undefined && given !== null) isRead(Array.isArray(given), 'a list')
      const read = entries.map((each, at) => valueOf(field.item, each, join(path, at), reading))
      if (read.length === 0 && field.atLeastOne !== undefined) faults.add(path, given, field.atLeastOne)
      for (const key of field.unique ?? [])
        faults.addRepeated(key === '' ? read : read.map(each => (each as Given)[key]), path, key)
      field.rule?.(read as never, path, faults)
      return read
    }
    case 'mapping':
      return mappingOf(field, given, path, reading)
    case 'variants':
      return variantOf(field, given, path, reading)
    case 'either':
      return valueOf(isMapping(given) ? field.full : field.plain, given, path, reading)
    case 'open':
      return givenMapping(given, path, faults)
  }
}

/** Null counts as left out where it is allowed. */
function givenOr(field: Field, value: unknown, { root }: Reading): unknown {
  if (value === null && field.isNullable === true) return field.default ?? null
  if (value !== undefined) return value
  return field.defaultFrom === undefined ? field.default : field.defaultFrom.of(root as never)
}

function textOf(field: FieldOf<'text'>, given: string, path: string, reading: Reading): string | Secret {
  const { format, convert, shown } = field
  const violated = given === '' ? null : (format[2]?.(given) ?? null)
  if (violated !== null) reading.faults.add(path, given, violated)
  const text = convert === undefined ? given : convert(given, reading.folder)
  return shown === undefined ? text : new Secret(text, shown(text))
}

function urlOf(schemes: readonly string[], given: unknown, path: string, faults: FaultLog): string {
  const text = typeof given === 'string' ? given.trim() : ''
  const scheme = schemeOf(text)
  if (scheme !== undefined && schemes.includes(scheme) && URL.canParse(text)) return text
  faults.addUrl(path, given, `a URL of ${schemes.join(', ')}, such as ${schemes[0]}://host:8545`)
  return ''
}

function mappingOf(field: FieldOf<'mapping'>, value: unknown, path: string, reading: Reading): Given {
  const given = knownKeys(value, path, Object.keys(field.fields), reading.faults)
  // Defaults of later sections depend on what is read of earlier ones.
  const read = path === '' ? reading.root : {}
  readInto(read, field.fields, field.fill?.(given) ?? given, path, reading)
  for (const rule of field.rules ?? []) rule(read as never, path, reading.faults)
  return read
}

function variantOf(field: FieldOf<'variants'>, value: unknown, path: string, reading: Reading): Given {
  const { shared, forms, by, alien } = field
  const keys = Object.keys(fieldsOf(field))
  const given = knownKeys(value, path, keys, reading.faults)
  const name = typeof by === 'string' ? given[by] : by(given)
  const read = {}
  readInto(read, shared, given, path, reading)
  const own = typeof name === 'string' && Object.hasOwn(forms, name) ? forms[name] : undefined
  if (own === undefined) {
    // Of an unknown form, the expected keys are unknown too: the first form stands in, without faults.
    readInto(read, Object.values(forms)[0] ?? {}, {}, path, { ...reading, faults: new FaultLog() })
    return read
  }
  readInto(read, own, given, path, reading)
  const others = alien === undefined ? [] : keys.filter(key => !(key in shared || key in own))
  for (const key of others.filter(each => given[each] !== undefined))
    reading.faults.add(join(path, key), given[key], `nothing: ${alien} ${String(name)} has none`)
  return read
}

type Values = Record<string, unknown>

function readInto(read: Values, fields: Fields, given: Given, path: string, reading: Reading): void {
  for (const [key, field] of Object.entries(fields))
    read[key] = valueOf(field, given[key], join(path, key), reading)
}

function knownKeys(value: unknown, path: string, keys: readonly string[], faults: FaultLog): Given {
  const given = givenMapping(value, path, faults)
  for (const key of Object.keys(given)) if (!keys.includes(key)) faults.addUnknownKey(path, key, keys)
  return given
}

function givenMapping(value: unknown, path: string, faults: FaultLog): Given {
  if (isMapping(value)) return value
  if (value !== undefined && value !== null) faults.add(path, value, 'a mapping')
  return {}
}

const isMapping = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
