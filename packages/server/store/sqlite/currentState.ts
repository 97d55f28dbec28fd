/**
 * The current state of every token, pool and feed: the content of its last record, and the sequence of that record. It
 * follows from the log alone: folding the log from its beginning gives the same state.
 */
import type { Sealed, Subject } from '../envelope.ts'
import { lastPricedText } from '../lastPriced.ts'
import type { Sequence } from '../port.ts'
import { StoreError } from '../storeError.ts'
import type { Connection } from './connection.ts'
import { historyWriter } from './historyStore.ts'

type LastRecord = { readonly record_id: string; readonly sequence: Sequence; readonly state: string | null }

export type CurrentState = {
  /** The record `recordId`, which must be the last one about its subject. */
  lastOf(chainId: number, subject: Subject, recordId: string): Pick<LastRecord, 'sequence' | 'state'>
  /** `last_priced` of a token that has no price after this record. */
  lastPricedOf(chainId: number, subject: Subject): string
  write(chainId: number, subject: Subject, sealed: Sealed, sequence: Sequence): void
  removePool(chainId: number, poolAddress: string): void
}

export function currentState(connection: Connection): CurrentState {
  const lastOfToken = connection.prepare(
    'SELECT record_id, sequence, price AS state FROM token_price WHERE chain_id = ? AND token_address = ?',
  )
  const priceOf = connection.prepare('SELECT price FROM token_price WHERE chain_id = ? AND token_address = ?')
  const lastOfPool = connection.prepare(
    'SELECT record_id, sequence, state FROM pool_state WHERE chain_id = ? AND pool_address = ?',
  )
  const upsertPrice = connection.prepare(`
    INSERT INTO token_price (chain_id, token_address, record_id, sequence, price) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      record_id = excluded.record_id, sequence = excluded.sequence, price = excluded.price`)
  const upsertState = connection.prepare(`
    INSERT INTO pool_state (chain_id, pool_address, record_id, sequence, state) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      record_id = excluded.record_id, sequence = excluded.sequence, state = excluded.state`)
  const deleteState = connection.prepare('DELETE FROM pool_state WHERE chain_id = ? AND pool_address = ?')
  const writeHistory = historyWriter(connection)
  const upsertHealth = connection.prepare(`
    INSERT INTO feed_health (chain_id, sequence, health) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET sequence = excluded.sequence, health = excluded.health`)

  return {
    lastOf(chainId, subject, recordId) {
      if (subject.kind !== 'token' && subject.kind !== 'pool')
        throw new StoreError('STORE_MISUSE', `a retraction of ${recordId} names no token or pool`)
      const lookup = subject.kind === 'token' ? lastOfToken : lastOfPool
      const last = lookup.get(chainId, subject.address) as LastRecord | undefined
      if (last?.record_id !== recordId)
        throw new StoreError(
          'STORE_MISUSE',
          `${subject.recordId} retracts ${recordId}, but the last record of ${subject.kind} ` +
            `${subject.address} is ${last?.record_id ?? 'none'}`,
        )
      return last
    },

    lastPricedOf(chainId, subject) {
      const row = subject.kind === 'token' ? priceOf.get(chainId, subject.address) : undefined
      return lastPricedText((row as { readonly price: string } | undefined)?.price ?? null)
    },

    write(chainId, subject, { current }, sequence) {
      switch (subject.kind) {
        case 'token':
          upsertPrice.run(chainId, subject.address, subject.recordId, sequence, current)
          writeHistory(chainId, subject.address, sequence, subject.point)
          return
        case 'pool':
          upsertState.run(chainId, subject.address, subject.recordId, sequence, current)
          return
        case 'health':
          upsertHealth.run(chainId, sequence, current)
          return
        case 'none':
          return
      }
    },

    removePool(chainId, poolAddress) {
      deleteState.run(chainId, poolAddress)
    },
  }
}
