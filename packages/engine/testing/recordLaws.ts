/**
 * What holds of the records of every step, whatever the input (R-record-1, R-retract-1): their order, one record per
 * entity, and a retraction exactly where one is due, naming the record it withdraws.
 */
import { assert } from '../assert.ts'
import type { Hex } from '../chain/block.ts'
import type { StepResult } from '../engine.ts'
import type { CompactState, EngineRecord, PoolStateText } from '../record.ts'

type Known<Content> = { readonly recordId: string; readonly content: Content }

const LABELS = [
  'Unusable',
  'Low',
  'Low',
  'Low',
  'Medium',
  'Medium',
  'Medium',
  'High',
  'High',
  'Very high',
  'Very high',
]

export class RecordLaws {
  readonly #tokens = new Map<Hex, Known<CompactState>>()
  readonly #pools = new Map<Hex, Known<PoolStateText | null>>()
  readonly #ids = new Set<string>()
  /** The last record of it. */
  #health: Readonly<Record<string, unknown>> | null = null

  /** `orphaned` are the hashes of the blocks this step undid. */
  check({ records }: StepResult, orphaned: ReadonlySet<Hex>): void {
    const ranks = records.map(rankOf)
    assert(
      ranks.every((rank, at) => at === 0 || rank >= (ranks[at - 1] ?? 0)),
      () => `records out of order: ${ranks.join()}`,
    )
    const subjects = new Set<Hex>()
    for (const record of records) {
      if (record.type !== 'PRICE_UPSERT' && record.type !== 'PRICE_RETRACT') continue
      const { payload } = record
      const subject = payload.scope === 'token' ? payload.token_id : payload.pool_id
      assert(!subjects.has(subject), () => `two records of ${subject} in one step`)
      subjects.add(subject)
      assert(!this.#ids.has(payload.record_id), () => `record id ${payload.record_id} was used before`)
      this.#ids.add(payload.record_id)
      if (payload.scope === 'token') this.#token(records, record, subject, orphaned)
      else this.#pool(record, subject, orphaned)
    }
    for (const { type, payload } of records) if (type === 'FEED_HEALTH') this.#health = payload
  }

  #token(
    records: StepResult['records'],
    record: EngineRecord,
    subject: Hex,
    orphaned: ReadonlySet<Hex>,
  ): void {
    const last = this.#tokens.get(subject)
    const next = contentOf(record) as CompactState
    if (next.state === 'PRICED') {
      const { score, label } = next.confidence
      assert(score >= 1 && score <= 10, () => `PRICED with score ${score}`)
      assert(label === LABELS[score], () => `score ${score} is labelled ${label}`)
    }
    const isRevoked = last !== undefined && orphaned.has(last.content.as_of.block_hash)
    const isLost = last?.content.state === 'PRICED' && next.state === 'UNPRICED'
    retracts(record, last, isRevoked || isLost)
    // After a reorganisation the same may have to be said of another block.
    if (last !== undefined && orphaned.size === 0 && !this.#isReturn(records, next.evaluated_at_ms))
      assert(essence(last.content) !== essence(next), () => `${subject} was published again unchanged`)
    this.#tokens.set(subject, { recordId: idOf(record), content: next })
  }

  /** Only the return of a feed that was gone publishes what is unchanged. */
  #isReturn(records: StepResult['records'], atMs: number): boolean {
    const [first] = records
    if (first?.type !== 'FEED_HEALTH' || this.#health === null) return false
    const { status, updated_at_ms } = this.#health
    return isGone(status) || Math.abs(atMs - Number(updated_at_ms ?? atMs)) > 30_000
  }

  #pool(record: EngineRecord, subject: Hex, orphaned: ReadonlySet<Hex>): void {
    const last = this.#pools.get(subject)
    const next = contentOf(record) as PoolStateText | null
    const was = last?.content ?? null
    retracts(record, last, was !== null && (next === null || orphaned.has(was.block_hash)))
    this.#pools.set(subject, { recordId: idOf(record), content: next })
  }
}

const isGone = (status: unknown): boolean => status === 'GAP' || status === 'UNAVAILABLE'

/** Feed health, swaps, pools, tokens. */
function rankOf(record: EngineRecord): number {
  if (record.type === 'FEED_HEALTH') return 0
  if (record.type === 'SWAP_OBSERVED') return 1
  return record.payload.scope === 'pool' ? 2 : 3
}

function retracts(record: EngineRecord, last: Known<unknown> | undefined, expected: boolean): void {
  assert(
    (record.type === 'PRICE_RETRACT') === expected,
    () => `${record.type} where ${expected ? 'a' : 'no'} retraction is due`,
  )
  if (record.type === 'PRICE_RETRACT')
    assert(
      record.payload.retracted.record_id === last?.recordId,
      () => `${record.payload.retracted.record_id} is not the last record ${last?.recordId}`,
    )
}

/** The state a PRICE_UPSERT carries itself, and a PRICE_RETRACT as `current`. */
export function contentOf(record: EngineRecord): unknown {
  if (record.type === 'PRICE_RETRACT') return record.payload.current
  assert(record.type === 'PRICE_UPSERT', 'no price record')
  const {
    scope: _,
    chain_id: __,
    record_id: ___,
    token_id: ____,
    pool_id: _____,
    ...content
  } = record.payload as Record<string, unknown>
  return content
}

const idOf = (record: EngineRecord): string => (record.payload as { readonly record_id: string }).record_id

/** Everything but when and on which tip it was said. */
function essence(content: CompactState): string {
  return JSON.stringify({ ...content, evaluated_at_ms: null, as_of: null })
}
