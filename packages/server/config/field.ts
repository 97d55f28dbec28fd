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
export type Fields = Readonly<Record<string, Field>>
export type ValueOf<F> = F extends { readonly [value]?: infer Value } ? Value : never
type Values<F extends Fields> = { readonly [Key in keyof F]: ValueOf<F[Key]> }

export type Given = Readonly<Record<string, unknown>>
/** A condition that concerns several keys, or entries of a list. It reports every violation. */
type Rule<Value> = (value: Value, path: string, faults: FaultLog) => void
/** What defaults of other sections may depend on. */
type Chosen = { readonly listen: { readonly host: string } }

type Options = {
  /** More for the docs, after the sentence that editors and the template have too. */
  readonly more?: string
  /** Values that show what the key is for; without them the default or a value of the type does. */
  readonly examples?: readonly unknown[]
  /** As it would be written in the file; null means that the key may be left out and is null then. */
  readonly default?: unknown
  readonly defaultFrom?: { readonly says: string; readonly of: (chosen: Chosen) => unknown }
  readonly isNullable?: boolean
  /** Whether the table of built-in chains may have it. */
  readonly isBuiltIn?: boolean
}

type Kind =
  | IntegerKind
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

/** The unit is part of a fault: a number that is off by a factor usually has another unit. */
type IntegerKind = {
  readonly kind: 'integer'
  readonly min: number
  readonly max: number
  readonly unit?: string
}
export type TextKind = {
  readonly kind: 'text'
  readonly pattern: RegExp
  readonly expected: string
  /** What was expected beyond the pattern; null if nothing is wrong. */
  readonly check?: (text: string) => string | null
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
export type MappingKind = {
  readonly kind: 'mapping'
  readonly fields: Fields
  /** Adds values from elsewhere to the given ones. */
  readonly fill?: (given: Given) => Given
  readonly rules?: readonly Rule<never>[]
}
export type VariantsKind = {
  readonly kind: 'variants'
  readonly shared: Fields
  readonly forms: Readonly<Record<string, Fields>>
  /** The name of the form; the shared key of that name, or a function of what is given. */
  readonly by: string | ((given: Given) => string)
  /** Refuses the keys of other forms, in these words; otherwise they are ignored. */
  readonly alien?: string
}

export const integer = (about: string, options: Options & Omit<IntegerKind, 'kind'>): Field<number> => ({
  kind: 'integer',
  about,
  ...options,
})

export const flag = (about: string, options: Options): Field<boolean> => ({ kind: 'flag', about, ...options })

export const text = (about: string, options: Options & Omit<TextKind, 'kind' | 'shown'>): Field<string> => ({
  kind: 'text',
  about,
  ...options,
})

export const secret = (
  about: string,
  options: Options & Omit<TextKind, 'kind'> & Required<Pick<TextKind, 'shown'>>,
): Field<Secret> => ({ kind: 'text', about, ...options })

/** A text that may contain a key: neither faults nor `config show` show it. */
export const url = (about: string, schemes: readonly string[], options: Options): Field<Secret> => ({
  kind: 'url',
  schemes,
  about,
  ...options,
})

export const choice = <const Choice extends string>(
  about: string,
  choices: readonly Choice[],
  options: Options = {},
): Field<Choice> => ({ kind: 'choice', choices, about, ...options })

export const list = <Item>(
  about: string,
  item: Field<Item>,
  options: Options & Omit<ListKind, 'kind' | 'item' | 'rule'> & { rule?: Rule<readonly Item[]> } = {},
): Field<readonly Item[]> => ({ kind: 'list', item, about, ...options })

export const mapping = <const F extends Fields>(
  about: string,
  fields: F,
  options: Options & Pick<MappingKind, 'fill'> & { rules?: readonly Rule<Values<F>>[] } = {},
): Field<Values<F>> => ({ kind: 'mapping', fields, about, ...options })

/** A mapping with other keys for each value of its key `by`, which is one of the shared ones. */
export const tagged = <
  const By extends string,
  const Shared extends Fields,
  const Forms extends Readonly<Record<string, Fields>>,
>(
  about: string,
  by: By,
  shared: Shared,
  forms: Forms,
  options: Options & Pick<VariantsKind, 'alien'> = {},
): Field<
  {
    [Name in keyof Forms]: Values<Shared> & Values<Forms[Name]> & { readonly [Key in By]: Name }
  }[keyof Forms]
> => ({ kind: 'variants', by, shared, forms, about, ...options })

/** A mapping with other keys for each name that `by` gives. */
export const variants = <const Forms extends Readonly<Record<string, Fields>>>(
  about: string,
  forms: Forms,
  by: (given: Given) => keyof Forms & string,
): Field<{ [Name in keyof Forms]: Values<Forms[Name]> }[keyof Forms]> => ({
  kind: 'variants',
  by,
  shared: {},
  forms,
  about,
})

export const either = <Plain, Full>(plain: Field<Plain>, full: Field<Full>): Field<Plain | Full> => ({
  kind: 'either',
  plain,
  full,
  about: '',
})

export const open = (about: string, like: object, options: Options): Field<Given> => ({
  kind: 'open',
  like,
  about,
  ...options,
})

/** May be left out, and is null then. */
export const optional = <Value>(field: Field<Value>): Field<Value | null> => ({ ...field, default: null })

/** May be null: the same as left out if it may be left out. */
export const nullable = <Value>(field: Field<Value>): Field<Value | null> => ({ ...field, isNullable: true })

/** Required only of a chain that is not built in. */
export const builtIn = <Value>(field: Field<Value>): Field<Value> => ({ ...field, isBuiltIn: true })

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

/** Whether it may be null: a list or a mapping without values counts as empty. */
export const acceptsNull = (field: Field): boolean =>
  field.isNullable === true ||
  (['list', 'mapping', 'variants', 'open'].includes(field.kind) &&
    field.default !== null &&
    isOptional(field))
