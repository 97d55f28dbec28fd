/**
 * The current state of every token, pool and feed: the content of its last record, and the sequence of that record. It
 * follows from the log alone: folding the log from its beginning gives the same state.
 */
import type { Subject, Unsealed } from '../envelope.ts'
import { lastPricedText } from '../lastPriced.ts'
import type { Sequence, StepCommit } from '../port.ts'
import type { Placed } from '../quoteBook.ts'
import { StoreError } from '../storeError.ts'
import { type Withdrawal, WithdrawalsOfCommit } from '../withdrawals.ts'
import { type Query, statement } from './connection.ts'
import type { Published } from './historyStore.ts'

type Last = {
  readonly recordId: string
  readonly sequence: Sequence
  /** The state. */
  readonly text: string | null
}

export type CurrentStates = {
  readonly token: ReadonlyMap<string, Last>
  readonly pool: ReadonlyMap<string, Last>
  readonly health: { readonly text: string; readonly sequence: Sequence } | null
}

export type SealedCommit = {
  readonly envelopes: readonly string[]
  readonly current: CurrentStates
  readonly published: readonly Published[]
  readonly withdrawals: readonly Withdrawal[]
  /** The quote of each token's last record. */
  readonly quotes: ReadonlyMap<string, Placed>
}

const LAST_OF = {
  token: statement(`
    SELECT token_address AS address, record_id AS "recordId", sequence, price AS text FROM token_price
    WHERE chain_id = $1 AND token_address = ANY ($2::text[])`),
  pool: statement(`
    SELECT pool_address AS address, record_id AS "recordId", sequence, state AS text FROM pool_state
    WHERE chain_id = $1 AND pool_address = ANY ($2::text[])`),
} as const

/**
 * Reads the records that retractions withdraw and the last prices of tokens without one; the returned function seals
 * each record with its sequence.
 */
export async function sealRecords(
  query: Query,
  { chainId, atMs, records }: StepCommit,
): Promise<(first: Sequence) => SealedCommit> {
  const last = {
    token: await readLast(query, chainId, 'token', records),
    pool: await readLast(query, chainId, 'pool', records),
  }
  return first => {
    const current = { token: new Map<string, Last>(), pool: new Map<string, Last>() }
    let health: CurrentStates['health'] = null
    const published: Published[] = []
    const quotes = new Map<string, Placed>()
    const withdrawals = new WithdrawalsOfCommit(atMs)
    const envelopes = records.map(({ subject, retracted, gone, isUnpriced, quote, seal }, index) => {
      const sequence = first + index
      const withdrawn = retracted === null ? null : withdrawnRecord(last, subject, retracted)
      if (gone !== null) withdrawals.add(sequence, gone, withdrawn?.text ?? null)
      const before = subject.kind === 'token' ? last.token.get(subject.address) : undefined
      const lastPriced = isUnpriced ? lastPricedText(before?.text ?? null) : null
      const sealed = seal(sequence, withdrawn?.sequence ?? null, lastPriced)
      if (subject.kind === 'health') health = { text: sealed.current as string, sequence }
      if (subject.kind === 'token' || subject.kind === 'pool') {
        const now: Last = { recordId: subject.recordId, sequence, text: sealed.current }
        last[subject.kind].set(subject.address, now)
        current[subject.kind].set(subject.address, now)
      }
      if (subject.kind === 'token') {
        const tokenAddress = subject.address
        published.push({ sequence, tokenAddress, point: subject.point })
        quotes.set(tokenAddress, { tokenAddress, sequence, quote, lastPriced })
      }
      return sealed.envelope
    })
    return { envelopes, current: { ...current, health }, published, quotes, withdrawals: withdrawals.found }
  }
}

async function readLast(
  query: Query,
  chainId: number,
  kind: 'token' | 'pool',
  records: readonly Unsealed[],
): Promise<Map<string, Last>> {
  const asked = records.flatMap(({ subject, retracted, isUnpriced }) =>
    subject.kind === kind && (retracted !== null || isUnpriced) ? [subject.address] : [],
  )
  if (asked.length === 0) return new Map()
  const rows = await query<Last & { readonly address: string }>(LAST_OF[kind], [chainId, asked])
  return new Map(rows.map(({ address, ...last }) => [address, last]))
}

/** The record `recordId`, which must be the last one about its subject. */
function withdrawnRecord(
  last: Readonly<Record<'token' | 'pool', ReadonlyMap<string, Last>>>,
  subject: Subject,
  recordId: string,
): Last {
  if (subject.kind !== 'token' && subject.kind !== 'pool')
    throw new StoreError('STORE_MISUSE', `a retraction of ${recordId} names no token or pool`)
  const before = last[subject.kind].get(subject.address)
  if (before?.recordId !== recordId)
    throw new StoreError(
      'STORE_MISUSE',
      `${subject.recordId} retracts ${recordId}, but the last record of ${subject.kind} ` +
        `${subject.address} is ${before?.recordId ?? 'none'}`,
    )
  return before
}

const ROWS =
  'unnest($2::text[], $3::text[], $4::bigint[], $5::text[]) AS row (address, record_id, sequence, text)'
const UPSERT_PRICES = statement(`
  INSERT INTO token_price (chain_id, token_address, record_id, sequence, price)
  SELECT $1, address, record_id, sequence, text FROM ${ROWS}
  ON CONFLICT (chain_id, token_address) DO UPDATE SET
    record_id = excluded.record_id, sequence = excluded.sequence, price = excluded.price`)
const UPSERT_STATES = statement(`
  INSERT INTO pool_state (chain_id, pool_address, record_id, sequence, state)
  SELECT $1, address, record_id, sequence, text FROM ${ROWS}
  ON CONFLICT (chain_id, pool_address) DO UPDATE SET
    record_id = excluded.record_id, sequence = excluded.sequence, state = excluded.state`)
const DELETE_STATES = statement(
  'DELETE FROM pool_state WHERE chain_id = $1 AND pool_address = ANY ($2::text[])',
)
const UPSERT_HEALTH = statement(`
  INSERT INTO feed_health (chain_id, sequence, health) VALUES ($1, $2, $3)
  ON CONFLICT (chain_id) DO UPDATE SET sequence = excluded.sequence, health = excluded.health`)

export async function writeCurrent(query: Query, commit: StepCommit, current: CurrentStates): Promise<void> {
  const { chainId } = commit
  // A removed pool loses its state, unless it returned in the same step.
  const kept = new Set(commit.pools.map(({ poolAddress }) => poolAddress))
  const removed = commit.removedPools.filter(address => !kept.has(address))
  const states = new Map([...current.pool].filter(([address]) => !removed.includes(address)))

  if (removed.length > 0) await query(DELETE_STATES, [chainId, removed])
  if (states.size > 0) await query(UPSERT_STATES, [chainId, ...columnsOf(states)])
  if (current.token.size > 0) await query(UPSERT_PRICES, [chainId, ...columnsOf(current.token)])
  if (current.health !== null)
    await query(UPSERT_HEALTH, [chainId, current.health.sequence, current.health.text])
}

const columnsOf = (states: ReadonlyMap<string, Last>): unknown[] => [
  [...states.keys()],
  [...states.values()].map(({ recordId }) => recordId),
  [...states.values()].map(({ sequence }) => sequence),
  [...states.values()].map(({ text }) => text),
]
