/**
 * A tool as an agent sees it, and how it runs. Descriptions and schemas are constants: no text from a chain, a token or
 * an operator reaches them.
 */
import type { Client } from '@assay/sdk'
import type { JsonSchema } from '@assay/sdk/wire'

export type Asked = {
  /** Calls the service like any client: over HTTP, or internally. */
  readonly client: Client
  /** Below this score no number is reported. */
  readonly minScore: number
}

/** Arguments that passed the schema of the tool. */
export type Arguments = Readonly<Record<string, unknown>>

export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: JsonSchema
  readonly output: JsonSchema
  /** Units it costs in addition to the requests it makes. */
  readonly units?: number
  readonly run: (given: Arguments, asked: Asked) => Promise<object>
}

export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({ type: 'object', properties, required, additionalProperties: false })

export const list = (items: JsonSchema, description: string): JsonSchema => ({
  type: 'array',
  items,
  description,
})
export const text = (description: string): JsonSchema => ({ type: 'string', description })
export const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
export const whole = (description: string): JsonSchema => ({ type: 'integer', description })
export const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })
export const yesOrNo = (description: string): JsonSchema => ({ type: 'boolean', description })

/** The token argument that every tool takes. */
export const TOKEN = {
  chain_id: {
    type: 'integer',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The chain, such as 1 for Ethereum or 8453 for Base; the tool health lists those served.',
  },
  token_address: {
    type: 'string',
    pattern: '^0x[0-9a-fA-F]{40}$',
    description:
      'The contract address of the token. A symbol proves nothing; the tool search finds addresses.',
  },
} as const

export type TokenArguments = { readonly chain_id: number; readonly token_address: `0x${string}` }
