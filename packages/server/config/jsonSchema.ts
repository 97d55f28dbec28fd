/** The JSON Schema of the configuration, for editors. */
import { acceptsNull, type Field, fieldsOf, isOptional } from './field.ts'
import { SCHEMA } from './schema.ts'

export type JsonSchema = { readonly [keyword: string]: unknown }

export const configSchema = (): JsonSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Assay: the configuration of the service',
  ...schemaOf(SCHEMA),
})

function schemaOf(field: Field): JsonSchema {
  const described = field.about === '' ? {} : { description: field.about }
  const form = formOf(field)
  return acceptsNull(field) && field !== SCHEMA
    ? { ...described, anyOf: [form, { type: 'null' }] }
    : { ...described, ...form }
}

function formOf(field: Field): JsonSchema {
  switch (field.kind) {
    case 'list': {
      const atLeast = field.atLeastOne === undefined ? {} : { minItems: 1 }
      return { type: 'array', ...atLeast, items: schemaOf(field.item) }
    }
    case 'mapping':
    case 'variants': {
      // Keys of one form only are required by the reader, which knows the form.
      const required = Object.entries(field.kind === 'mapping' ? field.fields : field.shared)
      return {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(fieldsOf(field)).map(([key, each]) => [key, schemaOf(each)]),
        ),
        required: required.filter(([, each]) => !isOptional(each)).map(([key]) => key),
        additionalProperties: false,
      }
    }
    case 'either':
      return { anyOf: [schemaOf(field.full), schemaOf(field.plain)] }
    case 'open':
      return schemaOfValue(field.like, false)
    case 'integer':
      return scalar(field, { type: 'integer', minimum: field.range[0], maximum: field.range[1] })
    case 'flag':
      return scalar(field, { type: 'boolean' })
    case 'text':
      return scalar(field, { type: 'string', pattern: field.format[0].source })
    case 'url':
      return scalar(field, { type: 'string', pattern: `^(?:${field.schemes.join('|')})://` })
    case 'choice':
      return scalar(field, { enum: field.choices })
  }
}

/** Every value in the file may come from the environment. */
const VARIABLE = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' } as const

const scalar = ({ default: usual = null }: Field, form: JsonSchema): JsonSchema => ({
  ...(usual === null ? {} : { default: usual }),
  anyOf: [form, VARIABLE],
})

/** The policy's types come from its default; the bounds are the engine's, and `assay config check` reports them. */
function schemaOfValue(value: unknown, hasDefault = true): JsonSchema {
  const standard = hasDefault ? { default: value } : {}
  if (Array.isArray(value)) return { ...standard, type: 'array' }
  if (typeof value !== 'object' || value === null)
    return {
      ...standard,
      type: typeof value === 'number' ? 'integer' : ['string', 'integer', 'boolean', 'null'],
    }
  const entries = Object.entries(value)
  // A map by chain id: any other id is allowed too.
  const isMap = entries.every(([key]) => /^\d+$/.test(key))
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([key, each]) => [key, schemaOfValue(each)])),
    additionalProperties: isMap ? { type: 'integer' } : false,
  }
}
