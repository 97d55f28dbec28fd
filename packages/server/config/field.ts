/**
 * One key of the configuration as data: its type, bounds, default, meaning and example. The sections of the
 * configuration (`sections/`) are mappings of such fields. The reader, the JSON Schema, the template and the reference
 * in the docs are made from them, and the type of a read document is inferred from them.
 */
import type { Secret } from '../ops/secret.ts'
import type { FaultLog } from './faultLog.ts'

/** Exists for the compiler only: what reading the field gives. */
declare const value: unique symbol

export type Field<Value = unknown> = Kind & Options & { readonly about: string; readonly [value]?: Value }
/** A field of one kind. */
export type FieldOf<Name extends Kind['kind']> = Field & { readonly kind: Name }
export type Fields = Readonly<Record<string, Field>>
export type ValueOf<F> = F extends { readonly [value]?: infer Value } ? Value : never
type Values<F extends Fields> = { readonly [Key in keyof F]: ValueOf<F[Key]> }

export type Given = Readonly<Record<string, unknown>>
/** A condition that concerns several keys, or entries of a list. It reports every violation. */
type Rule<Value> = (value: Value, path: string, faults: FaultLog) => void
/** What defaults of other sections may depend on. */
type Chosen = { readonly listen: { readonly host: string } }

/** A default that depends on what is chosen before; `says` describes it for the docs. */
export type DefaultFrom = { readonly says: string; readonly of: (chosen: Chosen) => unknown }

type Options = {
  /** Values that show what the key is for; without them the default or a value of the type does. */
  readonly examples?: readonly unknown[]
  /** As it would be written in the file; null means that the key may be left out and is null then. */
  readonly default?: unknown
  readonly defaultFrom?: DefaultFrom
  readonly isNullable?: boolean
  /** Whether only a chain that is not built in requires it. */
  readonly isBuiltIn?: boolean
}

type Kind =
  | { readonly kind: 'integer'; readonly range: Range }
  | { readonly kind: 'flag' }
  | TextKind
  | { readonly kind: 'url'; readonly schemes: readonly string[] }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | ListKind
  | MappingKind
  | VariantsKind
  /** An entry may be just a text, or a mapping with more. */
  | { readonly kind: 'either'; readonly plain: Field; readonly full: Field }
  /** A mapping that another part of the program checks; `like` has its keys. */
  | { readonly kind: 'open'; readonly like: object }

type TextKind = {
  readonly kind: 'text'
  readonly format: Format
  readonly convert?: (text: string, folder: string) => string
  /** The value is read as a `Secret`, which is shown as this. */
  readonly shown?: (text: string) => string
}
type ListKind = {
  readonly kind: 'list'
  readonly item: Field
  /** Keys that no two entries may share; '' for the entry itself. */
  readonly unique?: readonly string[]
  /** What is expected of an empty list that must not be empty. */
  readonly atLeastOne?: string
  readonly rule?: Rule<never>
}
type MappingKind = {
  readonly kind: 'mapping'
  readonly fields: Fields
  /** Adds values from elsewhere to the given ones. */
  readonly fill?: (given: Given) => Given
  readonly rules?: readonly Rule<never>[]
}
type VariantsKind = {
  readonly kind: 'variants'
  readonly shared: Fields
  readonly forms: Forms
  /** The name of the form: the value of this shared key, or a function of what is given. */
  readonly by: string | ((given: Given) => string)
  /** Refuses the keys of other forms, in these words; otherwise they are ignored. */
  readonly alien?: string
}
/** The unit is part of a fault: a number that is off by a factor usually has another unit. */
type Range = readonly [min: number, max: number, unit?: string]
/** `check` says what was expected beyond the pattern; null if nothing is wrong. */
type Format = readonly [pattern: RegExp, expected: string, check?: (text: string) => string | null]
type Forms = Readonly<Record<string, Fields>>

export function integer(about: string, range: Range, options: Options = {}): Field<number> {
  return { kind: 'integer', about, range, ...options }
}

export function flag(about: string, defaultFrom: DefaultFrom): Field<boolean> {
  return { kind: 'flag', about, defaultFrom }
}

export function text<Text extends string = string>(
  about: string,
  format: Format,
  options: Options & Pick<TextKind, 'convert'> = {},
): Field<Text> {
  return { kind: 'text', about, format, ...options }
}

type SecretOptions = Options & Pick<TextKind, 'convert'> & Required<Pick<TextKind, 'shown'>>

export function secret(about: string, format: Format, options: SecretOptions): Field<Secret> {
  return { kind: 'text', about, format, ...options }
}

/** A text that may contain a key: neither faults nor `config show` show it. */
export function url(about: string, schemes: readonly string[], options: Options): Field<Secret> {
  return { kind: 'url', schemes, about, ...options }
}

export function choice<const Choice extends string>(
  about: string,
  choices: readonly Choice[],
  options: Options = {},
): Field<Choice> {
  return { kind: 'choice', choices, about, ...options }
}

export function list<Item>(
  about: string,
  item: Field<Item>,
  options: Options & Pick<ListKind, 'unique' | 'atLeastOne'> & { rule?: Rule<readonly Item[]> } = {},
): Field<readonly Item[]> {
  return { kind: 'list', item, about, ...options }
}

export function mapping<const F extends Fields>(
  about: string,
  fields: F,
  options: Options & Pick<MappingKind, 'fill'> & { rules?: readonly Rule<Values<F>>[] } = {},
): Field<Values<F>> {
  return { kind: 'mapping', fields, about, ...options }
}

/** A mapping with other keys for each value of its key `by`, which is one of the shared ones. */
export function tagged<const By extends string, const Shared extends Fields, const F extends Forms>(
  by: By,
  shared: Shared,
  forms: F,
  options: Pick<VariantsKind, 'alien'> = {},
): Field<{ [Name in keyof F]: Values<Shared> & Values<F[Name]> & Readonly<Record<By, Name>> }[keyof F]> {
  return { kind: 'variants', by, shared, forms, about: '', ...options }
}

/** A mapping with other keys for each name that `by` gives. */
export function variants<const F extends Forms>(
  about: string,
  forms: F,
  by: (given: Given) => keyof F & string,
): Field<{ [Name in keyof F]: Values<F[Name]> }[keyof F]> {
  return { kind: 'variants', by, shared: {}, forms, about }
}

export function either<Plain, Full>(plain: Field<Plain>, full: Field<Full>): Field<Plain | Full> {
  return { kind: 'either', plain, full, about: '' }
}

export function open(about: string, like: object, options: Options): Field<Given> {
  return { kind: 'open', like, about, ...options }
}

/** May be left out, and is null then. */
export const optional = <Value>(field: Field<Value>): Field<Value | null> => ({ ...field, default: null })

/** Must be given, and may be null. */
export const nullable = <Value>(field: Field<Value>): Field<Value | null> => ({ ...field, isNullable: true })

/** May be left out or null, which is the same. */
export const nullish = <Value>(field: Field<Value>): Field<Value | null> => optional(nullable(field))

/** The keys that a field has inside: of all forms, if it has several. */
export function fieldsOf(field: Field): Fields {
  if (field.kind === 'mapping') return field.fields
  if (field.kind === 'either') return fieldsOf(field.full)
  if (field.kind !== 'variants') return {}
  const merged: Record<string, Field> = { ...field.shared }
  // The first form with a key describes it.
  for (const form of Object.values(field.forms))
    for (const [key, each] of Object.entries(form)) merged[key] ??= each
  return merged
}

/** Whether the file may leave it out. */
export function isOptional(field: Field): boolean {
  if (field.default !== undefined || field.defaultFrom !== undefined || field.isBuiltIn === true) return true
  if (field.kind === 'list') return field.atLeastOne === undefined
  if (field.kind === 'mapping') return Object.values(field.fields).every(isOptional)
  if (field.kind !== 'variants') return field.kind === 'open'
  const [first = {}] = Object.values(field.forms)
  return Object.values({ ...field.shared, ...first }).every(isOptional)
}

const WITH_ENTRIES: readonly string[] = ['list', 'mapping', 'variants', 'open']

/** Whether it may be null. A list or a mapping that may be left out has no entries then. */
export const acceptsNull = (field: Field): boolean =>
  field.isNullable === true || (WITH_ENTRIES.includes(field.kind) && isOptional(field))
