/**
 * What reorganisations withdrew, as the log says it: a PRICE_RETRACT `REORG` names a record, and an orphaned swap its
 * block. Every earlier state on that block or above it was on the same dead branch. A state on a lower block of that
 * branch that no record mentions stays: a reader of the stream was not informed of it either.
 */
import type { RecordDraft, Sequence } from './rows.ts'

/** Withdraws the chain's records before `sequence` from `blockNumber` up, except on the block `keptHash`. */
export type Withdrawal = {
  readonly sequence: Sequence
  readonly atMs: number
  readonly blockNumber: number
  readonly keptHash: string | null
}

export type WithdrawalStore = {
  /** Those that may concern records after `after` on blocks up to `upToBlock`, in the order of the log. */
  readWithdrawals(
    chainId: number,
    bounds: { readonly after: Sequence; readonly upToBlock: number },
  ): Promise<readonly Withdrawal[]>
}

/** What one record says is gone. `number` is null for the block of the record that it retracts. */
export type Gone = { readonly number: number | null; readonly keptHash: string | null }

type Said = { readonly [field: string]: unknown }
type Place = { readonly number: number; readonly hash: string }

export function goneBy({ type, payload }: Pick<RecordDraft, 'type' | 'payload'>): Gone | null {
  if (type === 'SWAP_OBSERVED')
    return payload['finality'] === 'orphaned'
      ? { number: Number(payload['block_number']), keptHash: null }
      : null
  if (type !== 'PRICE_RETRACT' || payload['reason'] !== 'REORG') return null
  // Records of the same step are already on the new branch.
  return { number: null, keptHash: placeOf(payload['current'] as Said | null)?.hash ?? null }
}

/** For a token the block of its evaluation, for a pool that of its last change. */
export function placeOf(state: Said | null): Place | null {
  if (state === null) return null
  const { block_number: number, block_hash: hash } = (state['as_of'] ?? state) as Said
  return typeof number === 'number' && typeof hash === 'string' ? { number, hash } : null
}

/** The withdrawals of one commit, without those that an earlier one of it includes. */
export class WithdrawalsOfCommit {
  readonly #atMs: number
  readonly found: Withdrawal[] = []

  constructor(atMs: number) {
    this.#atMs = atMs
  }

  /** `retracted` is the state of the record that a retraction names, as JSON. */
  add(sequence: Sequence, { number, keptHash }: Gone, retracted: string | null): void {
    const blockNumber = number ?? placeOf(JSON.parse(retracted ?? 'null') as Said | null)?.number
    if (blockNumber === undefined) return
    const isIncluded = this.found.some(each => each.keptHash === keptHash && each.blockNumber <= blockNumber)
    if (!isIncluded) this.found.push({ sequence, atMs: this.#atMs, blockNumber, keptHash })
  }
}

/** The first withdrawal that includes a record; undefined for one that holds. `hash` is only asked for where it decides. */
export const withdrawalOf = (
  withdrawals: readonly Withdrawal[],
  record: { readonly sequence: Sequence; readonly blockNumber: number },
  hash: string,
): Withdrawal | undefined =>
  withdrawals.find(
    each =>
      each.sequence > record.sequence && each.blockNumber <= record.blockNumber && each.keptHash !== hash,
  )
