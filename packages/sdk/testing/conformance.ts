/**
 * Whether something is an instance of a wire schema, by ajv in its strict mode: an implementation of JSON
 * Schema that is not ours, and the one the service uses.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../wire/schema.ts'

/** Faults of an instance, none when it conforms. Lists that may grow are held to the codes known today. */
export function conformance(schema: JsonSchema): (instance: unknown) => string[] {
  const validate = compile(closed(schema))
  return instance => (validate(instance) ? [] : faultsOf(validate.errors))
}

/** The same as a reader bound by the contract sees it: codes may be new. */
export function tolerance(schema: JsonSchema): (instance: unknown) => string[] {
  const validate = compile(schema)
  return instance => (validate(instance) ? [] : faultsOf(validate.errors))
}

type Errors = ReturnType<typeof compile>['errors']

const meta = new Ajv2020()

/** An instance of ajv each: two schemas that hold the same named one would meet in it. */
function compile(schema: JsonSchema) {
  if (meta.validateSchema(schema) !== true) throw new Error(meta.errorsText(meta.errors))
  const strict = { strict: true, strictTypes: true, strictTuples: true } as const
  return new Ajv2020({ ...strict, allErrors: true, meta: false, validateSchema: false }).compile(schema)
}

const faultsOf = (errors: Errors): string[] =>
  (errors ?? []).map(each => `${each.instancePath} ${each.message}`)

/** Known values become the only ones. */
function closed<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(closed) as Node
  if (typeof node !== 'object' || node === null) return node
  const { examples, ...rest } = node as Record<string, unknown>
  const inner = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, closed(value)]))
  return (examples === undefined ? inner : { ...inner, enum: examples }) as Node
}
