/**
 * JSON bodies, validated against the wire schema. A fault is reported with its path, the value received and what was
 * expected; nothing is corrected, coerced or dropped.
 */
import type { FastifyRequest } from 'fastify'
import type { Schema } from '@assay/sdk/wire'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { RequestError } from './apiError.ts'
import type { FaultOf } from './params.ts'
import { malformed } from './request.ts'

const ajv = new Ajv2020({ strict: false, verbose: true })
const compiled = new WeakMap<object, ValidateFunction>()

const SHOWN = 60

/** The body as the schema describes it, or the fault in the endpoint's own format. */
export function bodyOf<Body>(request: FastifyRequest, schema: Schema<Body>, fail: FaultOf = malformed): Body {
  const value = jsonOf(request, fail)
  const message = misfit(schema, value, 'the body')
  if (message === null) return value as Body
  throw fail({ kind: 'params', message })
}

/** Why a value does not match a schema, in a sentence; null when it matches. `whole` names the value. */
export function misfit(schema: object, value: unknown, whole: string): string | null {
  const validate = validatorOf(schema)
  return validate(value) ? null : messageOf((validate.errors ?? [])[0], whole)
}

function jsonOf({ body, headers }: FastifyRequest, fail: FaultOf): unknown {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    throw new RequestError(415, `the content encoding is ${show(encoding)}; expected a body without one`)
  const type = headers['content-type']
  if (type !== undefined && !/^application\/json(?:\s*;.*)?$/i.test(type))
    throw new RequestError(415, `the body is ${show(type)}; expected application/json`)
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw fail({ kind: 'params', message: 'the body is missing; expected a JSON object' })
  if (type === undefined)
    throw new RequestError(415, 'the content type is missing; expected application/json')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    throw fail({ kind: 'params', message: 'the body is not JSON; expected a JSON object in UTF-8' })
  }
}

function validatorOf(schema: object): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const made = ajv.compile(schema)
  compiled.set(schema, made)
  return made
}

function messageOf(error: ErrorObject | undefined, whole: string): string {
  if (error === undefined) return `${whole} does not match its schema`
  const { instancePath, keyword, params, message = 'to match the schema', data } = error
  const path = instancePath === '' ? whole : instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'additionalProperties')
    return `${path} has an unknown field ${show((params as { additionalProperty: string }).additionalProperty)}`
  if (keyword === 'required')
    return `${path} lacks the field ${(params as { missingProperty: string }).missingProperty}`
  return `${path} is ${show(data)}; it ${message}`
}

const show = (value: unknown): string => {
  const text = textOf(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** JSON may be nested so deeply that it can be read but not written. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return Array.isArray(value) ? 'a list of lists' : 'an object of objects'
  }
}
