/** JSON-RPC 2.0 as MCP uses it: one message at a time, no batches, ids that are text or whole numbers. */

export type Id = string | number
export type Params = Readonly<Record<string, unknown>>

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** A response to a request of ours, which we never send. */
  | { readonly kind: 'response' }

export const CODE = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  /** Used by revisions from 2026-07-28 on. */
  header: -32_020,
  version: -32_022,
} as const

/** An error of the protocol, not of a tool. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number
  readonly data: object | null

  constructor(code: number, message: string, data: object | null = null) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Longer ids are refused, because every answer repeats its id. */
const MAX_ID = 256

export function messageIn(value: unknown): Message {
  if (Array.isArray(value)) throw malformed('a batch; this server accepts one message at a time')
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') throw malformed('no JSON-RPC 2.0 message')
  const { method, id, params = {} } = value
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' }
  if (typeof method !== 'string') throw malformed('a message without a method')
  if (!isRecord(params)) throw malformed('a message whose params are not an object')
  if (!('id' in value)) return { kind: 'notification', method, params }
  if (!isId(id)) throw malformed('a request whose id is neither a string nor an integer')
  return { kind: 'request', id, method, params }
}

const malformed = (what: string): ProtocolError => new ProtocolError(CODE.request, `Invalid request: ${what}`)

export const isRecord = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (id: unknown): id is Id =>
  typeof id === 'string' ? id.length <= MAX_ID : Number.isSafeInteger(id)

export const idOf = (value: unknown): Id | null => (isRecord(value) && isId(value['id']) ? value['id'] : null)

export const resultText = (id: Id, result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })

export const errorText = (id: Id | null, { code, message, data }: ProtocolError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data === null ? {} : { data }) } })
