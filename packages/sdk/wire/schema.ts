/**
 * The few builders for every wire schema. Each returns a plain JSON Schema object (draft 2020-12, the part that ajv,
 * Fastify and OpenAPI 3.1 read alike) that carries its TypeScript type as a phantom, so a record is described once
 * and cannot disagree with its type.
 *
 * Schemas of data we send may grow: `object` explicitly allows fields it does not name, because serialisers that read
 * the schema would otherwise drop them. Schemas of data we receive may not: `strictObject` refuses unknown fields.
 */
declare const carried: unique symbol

export type JsonSchema = { readonly [keyword: string]: unknown }

/** A JSON Schema whose instances have type `Value`. Nothing of the type exists at run time. */
export type Schema<Value> = JsonSchema & { readonly [carried]: Value }

/** The type of a schema's instances. */
export type Static<S extends Schema<unknown>> = S[typeof carried]

/** A field that may be absent. An unknown value is not absent: it is null with a reason beside it. */
export type OptionalField<Value> = { readonly optional: Schema<Value> }

export type Fields = { readonly [name: string]: Schema<unknown> | OptionalField<unknown> }

/** One of the values known today, or a value of a later server. */
export type Known<Value extends string> = Value | (string & Record<never, never>)

type Bounds = { readonly minimum?: number; readonly maximum?: number }
type Lengths = { readonly minLength?: number; readonly maxLength?: number }
type Items = { readonly minItems?: number; readonly maxItems?: number; readonly uniqueItems?: true }

type RequiredOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends Schema<unknown> ? Name : never]: F[Name] extends Schema<
    infer Value
  >
    ? Value
    : never
}
type OptionalOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends OptionalField<unknown>
    ? Name
    : never]?: F[Name] extends OptionalField<infer Value> ? Value : never
}
/** Spelled out, so that an editor shows the fields and not the machinery. */
type Flat<T> = T extends infer U ? { readonly [Name in keyof U]: U[Name] } : never
export type ObjectOf<F extends Fields> = Flat<RequiredOf<F> & OptionalOf<F>>

/** A record we send: readers must tolerate fields they do not know. */
export const object = <const F extends Fields>(fields: F): Schema<ObjectOf<F>> => fieldsOf(fields, true)

/** A request: an unknown field is a mistake worth reporting. */
export const strictObject = <const F extends Fields>(fields: F): Schema<ObjectOf<F>> =>
  fieldsOf(fields, false)

export const optional = <Value>(schema: Schema<Value>): OptionalField<Value> => ({ optional: schema })

/** Any names, all with the same kind of value. */
export const map = <Value>(values: Schema<Value>): Schema<Readonly<Record<string, Value>>> =>
  schema({ type: 'object', additionalProperties: values })

/** An object whose fields are described elsewhere. */
export const anyObject = (): Schema<Readonly<Record<string, unknown>>> =>
  schema({ type: 'object', additionalProperties: true })

export const array = <Value>(items: Schema<Value>, limits: Items = {}): Schema<readonly Value[]> =>
  schema({ type: 'array', items, ...limits })

export const string = (limits: Lengths = {}): Schema<string> => schema({ type: 'string', ...limits })

/** `pattern` is anchored at both ends by its author; `Text` may narrow the type, as to `0x${string}`. */
export const pattern = <Text extends string = string>(source: string): Schema<Text> =>
  schema({ type: 'string', pattern: source })

/** A closed list: discriminators, and the values a request may contain. */
export const enumeration = <const Values extends readonly string[]>(values: Values): Schema<Values[number]> =>
  schema({ type: 'string', enum: values })

/** A list that may grow. Any string is valid; the values known today are listed as `examples`. */
export const known = <const Values extends readonly string[]>(
  values: Values,
): Schema<Known<Values[number]>> => schema({ type: 'string', examples: values })

export const integer = (bounds: Bounds = {}): Schema<number> => schema({ type: 'integer', ...bounds })

export const number = (bounds: Bounds = {}): Schema<number> => schema({ type: 'number', ...bounds })

export const boolean = (): Schema<boolean> => schema({ type: 'boolean' })

export const literal = <const Value extends string | number | boolean>(value: Value): Schema<Value> =>
  schema({ const: value })

export const nullable = <Value>(inner: Schema<Value>): Schema<Value | null> =>
  schema({ anyOf: [inner, { type: 'null' }] })

export const union = <const Branches extends readonly Schema<unknown>[]>(
  ...branches: Branches
): Schema<Static<Branches[number]>> => schema({ anyOf: branches })

/** A schema that `reference` can point to, also from inside itself. */
export const named = <Value>(id: string, inner: Schema<Value>): Schema<Value> => schema({ $id: id, ...inner })

export const reference = <Value>(id: string): Schema<Value> => schema({ $ref: `${id}#` })

export const describe = <Value>(description: string, inner: Schema<Value>): Schema<Value> =>
  schema({ ...inner, description })

function fieldsOf<F extends Fields>(fields: F, isOpen: boolean): Schema<ObjectOf<F>> {
  const properties: Record<string, Schema<unknown>> = {}
  const required: string[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (isOptional(field)) properties[name] = field.optional
    else {
      properties[name] = field
      required.push(name)
    }
  }
  return schema({ type: 'object', properties, required, additionalProperties: isOpen })
}

const isOptional = (field: Schema<unknown> | OptionalField<unknown>): field is OptionalField<unknown> =>
  'optional' in field

const schema = <Value>(keywords: JsonSchema): Schema<Value> => keywords as Schema<Value>
