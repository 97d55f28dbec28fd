/**
 * Records of the log as rows of a table. Exact values are text, with the display form beside them; missing values are
 * null. A row follows from its record alone, so the same range always gives the same rows.
 */
import { type Envelope, fromId } from '@assay/sdk/wire'
import { epochOf } from '../store/epoch.ts'
import type { LogRecord } from '../store/port.ts'

export const EXPORT_KINDS = ['prices', 'events', 'retractions'] as const
export type ExportKind = (typeof EXPORT_KINDS)[number]

/** Integers are below 2^53; everything else is text. */
export type Cell = string | number | null
export type Column = { readonly name: string; readonly isInteger: boolean }
export type Row = readonly Cell[]

export type Table = {
  readonly columns: readonly Column[]
  /** Null for a record that has no row in this table. */
  rowOf(record: LogRecord): Row | null
}

type Said = { readonly [field: string]: unknown }

const text = (...names: readonly string[]): Column[] => names.map(name => ({ name, isInteger: false }))
const integer = (...names: readonly string[]): Column[] => names.map(name => ({ name, isInteger: true }))

/** Columns of every row: its position first, so that a truncated file shows where it ends. */
const PLACE = integer('sequence', 'epoch', 'chain_id', 'committed_at_ms')
const placeOf = ({ sequence, chainId, timeMs }: LogRecord): Cell[] => [
  sequence,
  epochOf(sequence),
  chainId,
  timeMs,
]

const STATE = [
  ...text('state', 'price_numerator', 'price_denominator', 'price_display'),
  ...integer('score'),
  ...text('unpriced_reason'),
  ...integer('evaluated_at_ms', 'expires_at_ms', 'block_number'),
  ...text('block_hash', 'policy_version'),
]

function stateCells(state: Said | null): Cell[] {
  const price = (state?.['price_usd'] ?? null) as Said | null
  const confidence = (state?.['confidence'] ?? null) as Said | null
  const asOf = (state?.['as_of'] ?? null) as Said | null
  return [
    cell(state?.['state']),
    cell(price?.['numerator']),
    cell(price?.['denominator']),
    cell(price?.['display']),
    cell(confidence?.['score']),
    cell(state?.['reason']),
    cell(state?.['evaluated_at_ms']),
    cell(state?.['expires_at_ms']),
    cell(asOf?.['block_number']),
    cell(asOf?.['block_hash']),
    cell(state?.['policy_version']),
  ]
}

const cell = (value: unknown): Cell => (typeof value === 'string' || typeof value === 'number' ? value : null)

/** For a pool without an address, its whole 32-byte id. */
const addressIn = (id: unknown): Cell => (typeof id === 'string' ? fromId(id) : null)

const payloadOf = ({ envelope }: LogRecord): Said => (JSON.parse(envelope) as Envelope).payload

/** Every published state of a token, including those that a retraction restored. */
const prices: Table = {
  columns: [...PLACE, ...text('record_type', 'token_address', 'record_id'), ...STATE],
  rowOf(record) {
    if (record.type !== 'PRICE_UPSERT' && record.type !== 'PRICE_RETRACT') return null
    const payload = payloadOf(record)
    if (payload['scope'] !== 'token') return null
    const state = record.type === 'PRICE_RETRACT' ? (payload['current'] as Said) : payload
    return [
      ...placeOf(record),
      record.type,
      addressIn(payload['token_id']),
      cell(payload['record_id']),
      ...stateCells(state),
    ]
  },
}

const EVENT_INTEGERS = ['block_number', 'block_time_ms', 'log_index', 'tick']
const EVENT_FIELDS = [
  'kind',
  'block_number',
  'block_hash',
  'block_time_ms',
  'transaction_hash',
  'log_index',
  'finality',
  'proof',
  'amount0_in',
  'amount1_in',
  'amount0_out',
  'amount1_out',
  'amount0',
  'amount1',
  'sqrt_price_x96',
  'liquidity',
  'tick',
]

/** Swaps as they were observed; one that a reorganisation orphaned appears again with finality `orphaned`. */
const events: Table = {
  columns: [
    ...PLACE,
    ...text('pool_address'),
    ...EVENT_FIELDS.map(name => ({ name, isInteger: EVENT_INTEGERS.includes(name) })),
  ],
  rowOf(record) {
    if (record.type !== 'SWAP_OBSERVED') return null
    const payload = payloadOf(record)
    return [
      ...placeOf(record),
      addressIn(payload['pool_id']),
      ...EVENT_FIELDS.map(name => cell(payload[name])),
    ]
  },
}

/** Withdrawn records, and the state of the token that applies instead. */
const retractions: Table = {
  columns: [
    ...PLACE,
    ...text('scope', 'address', 'record_id', 'retraction_reason', 'retracted_record_id'),
    ...integer('retracted_sequence'),
    ...STATE,
  ],
  rowOf(record) {
    if (record.type !== 'PRICE_RETRACT') return null
    const payload = payloadOf(record)
    const retracted = payload['retracted'] as Said
    const isToken = payload['scope'] === 'token'
    return [
      ...placeOf(record),
      cell(payload['scope']),
      addressIn(isToken ? payload['token_id'] : payload['pool_id']),
      cell(payload['record_id']),
      cell(payload['reason']),
      cell(retracted['record_id']),
      cell(retracted['stream_sequence']),
      ...stateCells(isToken ? (payload['current'] as Said) : null),
    ]
  },
}

export const TABLES: Readonly<Record<ExportKind, Table>> = { prices, events, retractions }
