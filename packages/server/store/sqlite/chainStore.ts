/**
 * The commit of a step and the checkpoint a worker resumes from. A commit builds on the stored position: the same step
 * with another past, or a second writer of the chain, ends in a conflict and writes nothing. A step that is already
 * committed is recognised, so a worker that missed the answer may repeat it.
 */
import type { Unsealed } from '../envelope.ts'
import type { ChainStore, Checkpoint, Committed, StepCommit } from '../port.ts'
import { WithdrawalsOfCommit } from '../withdrawals.ts'
import { packQuotes, type Placed, type QuoteBook } from '../quoteBook.ts'
import { alreadyOrConflict, type Position, positionRow, tipOf } from '../position.ts'
import type { Connection } from './connection.ts'
import { currentState } from './currentState.ts'
import { factsWriter } from './facts.ts'
import { type Appended, logWriter } from './log.ts'
import { eventWriter } from './poolEvents.ts'
import { quoteBookWriter } from './quoteBooks.ts'
import { withdrawalWriter } from './withdrawalStore.ts'

/** `assertSpace` throws when there is not enough space to write a step. */
export function chainStore(connection: Connection, assertSpace: () => void = () => undefined): ChainStore {
  const readPosition = connection.prepare('SELECT * FROM position WHERE chain_id = ?')
  const readEntities = connection.prepare('SELECT key, text FROM entity WHERE chain_id = ? ORDER BY key')
  readEntities.setReturnArrays(true)
  const write = commitWriter(connection)
  const positionOf = (chainId: number) => readPosition.get(chainId) as Position | undefined

  return {
    async readCheckpoint(chainId) {
      return connection.read((): Checkpoint | null => {
        const position = positionOf(chainId)
        if (position === undefined) return null
        const entities = readEntities.all(chainId) as unknown as Checkpoint['entities']
        return { step: position.step, tip: tipOf(position), entities }
      })
    },

    async commit(commit) {
      assertSpace()
      const book = packQuotes(commit.records.map(({ quote }) => quote))
      return connection.write(
        () => alreadyOrConflict(positionOf(commit.chainId), commit) ?? write(commit, book),
      )
    },
  }
}

/** Writes a commit inside a transaction; sequences are taken after everything else is written. */
function commitWriter(connection: Connection): (commit: StepCommit, book: QuoteBook | null) => Committed {
  const facts = factsWriter(connection)
  const events = eventWriter(connection)
  const appendRecords = recordWriter(connection)
  const current = currentState(connection)
  const upsertEntity = connection.prepare(`
    INSERT INTO entity (chain_id, key, text) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET text = excluded.text`)
  const deleteEntity = connection.prepare('DELETE FROM entity WHERE chain_id = ? AND key = ?')
  const insertInput = connection.prepare(
    'INSERT INTO input (chain_id, step, at_ms, text) VALUES (?, ?, ?, ?)',
  )
  const upsertPosition = connection.prepare(`
    INSERT OR REPLACE INTO position
      (chain_id, step, tip_number, tip_hash, tip_time_ms, at_ms, first_sequence, last_sequence)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)

  return (commit, book) => {
    const { chainId, step, atMs } = commit
    for (const { key, text } of commit.entities)
      if (text === null) deleteEntity.run(chainId, key)
      else upsertEntity.run(chainId, key, text)
    // A pool that is removed and returns in one step, through a reorg, exists in the end.
    for (const address of commit.removedPools) facts.removePool(chainId, address)
    for (const pool of commit.pools) facts.writePool(chainId, pool)
    for (const token of commit.tokens) facts.writeToken(chainId, token)
    events.write(commit)
    if (commit.input !== null) insertInput.run(chainId, step, atMs, commit.input)

    const { first, last } = appendRecords(commit, book)
    // Only now, because the retraction of a removed pool needs the sequence of the record it withdraws.
    const kept = new Set(commit.pools.map(({ poolAddress }) => poolAddress))
    for (const address of commit.removedPools) if (!kept.has(address)) current.removePool(chainId, address)
    upsertPosition.run(...positionRow(commit, first, last))
    return { outcome: 'committed', first, last }
  }
}

/** Appends the records of a commit and replaces the current state of the subject of each. */
function recordWriter(connection: Connection): (commit: StepCommit, book: QuoteBook | null) => Appended {
  const log = logWriter(connection)
  const current = currentState(connection)
  const writeQuotes = quoteBookWriter(connection)
  const writeWithdrawals = withdrawalWriter(connection)
  return ({ chainId, step, atMs, records }, book) => {
    const placed = new Map<string, Placed>()
    const withdrawals = new WithdrawalsOfCommit(atMs)
    const appended = log.append(chainId, atMs, records.length, (index, sequence) => {
      const { subject, retracted, gone, isUnpriced, quote, seal } = records[index] as Unsealed
      const withdrawn = retracted === null ? null : current.lastOf(chainId, subject, retracted)
      if (gone !== null) withdrawals.add(sequence, gone, withdrawn?.state ?? null)
      const lastPriced = isUnpriced ? current.lastPricedOf(chainId, subject) : null
      const sealed = seal(sequence, withdrawn?.sequence ?? null, lastPriced)
      current.write(chainId, subject, sealed, sequence)
      if (subject.kind === 'token')
        placed.set(subject.address, { tokenAddress: subject.address, sequence, quote, lastPriced })
      return sealed.envelope
    })
    writeQuotes(chainId, step, book, placed)
    writeWithdrawals(chainId, withdrawals.found)
    return appended
  }
}
