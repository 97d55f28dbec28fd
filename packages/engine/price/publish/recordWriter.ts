/** Writes the records of one step in order, with their ids and routing. */
import type { Pool, Token } from '../../entities.ts'
import type { Hex } from '../../chain/block.ts'
import type { Edge, Evaluation } from '../evaluation.ts'
import type {
  CompactState,
  EngineRecord,
  PoolStateText,
  PublishedPool,
  PublishedToken,
  RecordHead,
  Routing,
} from '../../record.ts'
import type { State } from '../../state.ts'
import type { Work } from '../../work.ts'
import { poolRetraction, type Retraction, retracting, tokenRetraction } from './retraction.ts'

export class RecordWriter {
  readonly #state: State
  readonly #work: Work
  readonly #pools: EngineRecord[] = []
  readonly #tokens: EngineRecord[] = []
  #ordinal = 0

  constructor(state: State, work: Work) {
    this.#state = state
    this.#work = work
  }

  /** `record_id` names a record by chain, step and ordinal: the same inputs give the same names. */
  nextId(): string {
    return `${this.#state.setup.chainId}-${this.#state.chain.steps}-${this.#ordinal++}`
  }

  pool(pool: Pool, next: PublishedPool): void {
    const retraction = poolRetraction(pool, this.#work)
    this.#pools.push(this.#poolRecord(pool, next.recordId, retraction, next.state))
  }

  /** A pool removed with its orphaned block: there is no current state to show. */
  orphanedPool(pool: Pool): void {
    if (pool.published !== null)
      this.#pools.push(
        this.#poolRecord(pool, this.nextId(), retracting(pool.published, 'POOL_ORPHANED'), null),
      )
  }

  token(token: Token, next: PublishedToken, evaluation: Evaluation): void {
    const retraction = tokenRetraction(token, evaluation, this.#work)
    const subject = { scope: 'token', chain_id: this.#state.setup.chainId, token_id: token.id } as const
    const routing = this.#routing(acceptedPools(evaluation), [token.id])
    this.#tokens.push(recordOf({ ...subject, record_id: next.recordId }, routing, retraction, next.compact))
  }

  /** Control records, swaps, pools, tokens. */
  finish(): EngineRecord[] {
    const swaps = this.#work.swaps.map(
      ({ pool, payload }): EngineRecord => ({
        type: 'SWAP_OBSERVED',
        routing: this.#poolRouting(pool),
        payload,
      }),
    )
    return [...this.#work.first, ...swaps, ...this.#pools, ...this.#tokens]
  }

  #poolRecord(pool: Pool, recordId: string, retraction: Retraction | null, current: PoolStateText | null) {
    const subject = { scope: 'pool', chain_id: this.#state.setup.chainId, pool_id: pool.id } as const
    return recordOf({ ...subject, record_id: recordId }, this.#poolRouting(pool), retraction, current)
  }

  #poolRouting(pool: Pool): Routing {
    const { from, to } = pool.around
    return this.#routing([pool.id], from.id < to.id ? [from.id, to.id] : [to.id, from.id])
  }

  #routing(poolIds: Routing['pool_ids'], tokenIds: Routing['token_ids']): Routing {
    return { chain_id: this.#state.setup.chainId, pool_ids: poolIds, token_ids: tokenIds }
  }
}

/** The current state of a pool or token, in place of a record that is withdrawn or not. */
const recordOf = (
  head: RecordHead,
  routing: Routing,
  retraction: Retraction | null,
  current: CompactState | PoolStateText | null,
): EngineRecord =>
  retraction === null
    ? { type: 'PRICE_UPSERT', routing, payload: { ...head, ...current } }
    : { type: 'PRICE_RETRACT', routing, payload: { ...head, ...retraction, current } }

/** The token's own pools on accepted routes. */
function acceptedPools(evaluation: Evaluation): Routing['pool_ids'] {
  if (evaluation.kind === 'UNPRICED') return []
  const ids = new Set<Hex>()
  let last: Edge | null = null
  for (const { exclusion, first } of evaluation.routes) {
    if (exclusion !== null || first === last) continue
    ids.add(first.pool.id)
    last = first
  }
  return [...ids].sort()
}
