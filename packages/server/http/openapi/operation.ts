/** The description of an API operation, and texts that most of them share. */
import type { JsonSchema } from '@assay/sdk/wire'

export type Operation = {
  readonly id: string
  readonly method: 'get' | 'post' | 'put' | 'delete'
  /** In OpenAPI syntax. */
  readonly path: string
  readonly tag: Tag
  readonly summary: string
  /** Null when no credential is required. */
  readonly scopes: readonly string[] | null
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  readonly body?: JsonSchema
  /** Successful answers; null for one without a body. */
  readonly answers: Readonly<Record<number, JsonSchema | null>>
  /** Media types of a 200 that is a file. */
  readonly files?: readonly string[]
  /** Statuses this operation may fail with, in addition to the general ones. */
  readonly failures?: readonly number[]
}

export const TAGS = {
  Discovery: 'Chains, tokens and pools, and what is known about them.',
  Quotes: 'Prices with their evidence.',
  History: 'What was published, and with which numbers.',
  Session: 'Browser sessions and places in the stream.',
  Webhooks: 'Calls to an address of yours when a record meets a condition.',
  Operator: 'Keys, limits, policy: scope admin, and an address on the allowlist.',
  Service: 'The service itself.',
} as const
type Tag = keyof typeof TAGS

export const READ = ['read'] as const
export const SNAPSHOT = ['read', 'stream'] as const
export const ADMIN = ['admin'] as const

export const text = (description: string, pattern?: string): JsonSchema => ({
  type: 'string',
  description,
  ...(pattern === undefined ? {} : { pattern }),
})
export const path = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
})
