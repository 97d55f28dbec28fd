/**
 * Replaces values of entities, and keeps their previous ones in the journal of the block.
 *
 * The first image of an entity within a block wins, so undoing a journal gives exactly the state before its block.
 */
import type { BookUndo, Journal } from './journal.ts'
import type { Decimals, EntityKey, Pool, PoolState, Sellability, Stable, Token } from '../entities.ts'
import type { Sequencer } from '../input.ts'
import type { Evaluation } from '../price/evaluation.ts'
import type { PublishedPool, PublishedToken } from '../record.ts'
import { isOutgrown } from '../memory/historyBase.ts'
import type { TokenPast } from '../rules/ownPast.ts'
import type { State } from '../state.ts'
import type { Address, BlockRef } from './block.ts'

/** The tip's journal, or null when the tip is already final and nothing in it can be undone. */
export function tipJournal(state: State): Journal | null {
  return state.journals.at(-1) ?? null
}

export const isTip = (state: State, block: BlockRef): boolean => state.chain.tip?.hash === block.hash

/**
 * Where to book a reading made at this block. `journal` undoes the reading together with the block, and is null when
 * the block can no longer be undone. The result is null when the block is not on our chain. Below the undoable blocks
 * no hash is kept, so the worker vouches for those.
 */
export function placeOf(state: State, block: BlockRef): { readonly journal: Journal | null } | null {
  const { tip, finalized } = state.chain
  if (tip === null || block.number > tip.number) return null
  if (block.hash === tip.hash) return { journal: tipJournal(state) }
  if (block.number === tip.number) return null
  if (block.number === finalized?.number && block.hash !== finalized.hash) return null
  const [oldest] = state.journals
  if (oldest === undefined || block.number < oldest.block.number) return { journal: null }
  const journal = state.journals[block.number - oldest.block.number]
  return journal?.block.hash === block.hash ? { journal } : null
}

/** Whether a block above this one already brought another value: it takes precedence over a reading of this block. */
export const isReplacedAbove = (
  state: State,
  { number }: BlockRef,
  kind: 'stables' | 'decimals' | 'sellability',
  address: Address,
): boolean => state.journals.some(journal => journal.block.number > number && journal[kind].has(address))

/** Each setter keeps the first image of the entity in the block, then replaces it. */
function keepFirst<Image>(images: Map<Address, Image> | undefined, address: Address, image: Image): void {
  if (images?.has(address) === false) images.set(address, image)
}

export function replaceState(pool: Pool, next: PoolState): void {
  pool.state = next
  pool.around.own.unanchoredVerified = null
}

export function setPoolState(
  state: State,
  pool: Pool,
  next: PoolState,
  journal: Journal | null = tipJournal(state),
): void {
  if (journal?.created.has(pool.address) === false) keepFirst(journal.pools, pool.address, pool.state)
  replaceState(pool, next)
  if (isOutgrown(pool.around.base, next.history)) {
    pool.around.base = next.history
    state.index.changed.add(`history/${pool.address}`)
  }
  touch(state, `pool/${pool.address}`, journal)
  // A pool that several journals hold is stored in each as its difference from the next journal; the tip's journal
  // has no predecessor that changes.
  if (journal !== tipJournal(state))
    for (const { key, pools } of state.journals) if (pools.has(pool.address)) state.index.changed.add(key)
}

export function setPublishedPool(state: State, pool: Pool, next: PublishedPool): void {
  tipJournal(state)?.publishedPools.add(pool.address)
  pool.published = next
  touch(state, `pool/${pool.address}`)
}

export function setPublishedToken(
  state: State,
  token: Token,
  next: PublishedToken,
  evaluation: Evaluation,
): void {
  tipJournal(state)?.publishedTokens.add(token.address)
  token.published = next
  if (next.compact.state === 'PRICED') state.index.priced.add(token)
  else state.index.priced.delete(token)
  touch(state, `token/${token.address}`)
  state.index.evaluations.set(token.address, evaluation)
  state.index.changed.add(`quote/${token.address}`)
}

export function setStable(state: State, token: Address, next: Stable, journal: Journal | null): void {
  keepFirst(journal?.stables, token, state.stables.get(token) ?? null)
  state.stables.set(token, next)
  touch(state, `stable/${token}`, journal)
}

export function setDecimals(state: State, token: Token, next: Decimals, journal: Journal | null): void {
  keepFirst(journal?.decimals, token.address, token.decimals)
  token.decimals = next
  touch(state, `token/${token.address}`, journal)
}

export function setSellability(state: State, token: Token, next: Sellability, journal: Journal | null): void {
  keepFirst(journal?.sellability, token.address, token.sellability ?? null)
  token.sellability = next
  touch(state, `token/${token.address}`, journal)
}

export function setTokenPast(state: State, token: Token, next: TokenPast): void {
  const { past } = token
  const journal = tipJournal(state)
  const running = past === null ? null : { open: past.open, touchedMs: past.touchedMs }
  keepFirst(journal?.pasts, token.address, running)
  if (next.minutes !== past?.minutes) {
    if (past !== null) keepFirst(journal?.minutes, token.address, past.minutes)
    state.index.changed.add(`minutes/${token.address}`)
  }
  token.past = next
  touch(state, `past/${token.address}`, journal)
}

/** Undoing a block above the one it was read at must restore this value, because those blocks started with it. */
export function setSequencer(state: State, { number }: BlockRef, sequencer: Sequencer | null): void {
  for (const [at, journal] of state.journals.entries()) {
    if (journal.block.number <= number) continue
    state.journals[at] = { ...journal, before: { ...journal.before, sequencer } }
    state.index.changed.add(journal.key)
  }
  state.chain = { ...state.chain, sequencer }
  state.index.changed.add('chain')
}

export function noteBook(state: State, undo: BookUndo): void {
  tipJournal(state)?.books.push(undo)
  touch(state, `ticks/${undo.pool}`)
}

/** Marks an entity for the commit of this step, and the block's undo data with it. */
export function touch(state: State, key: EntityKey, journal: Journal | null = tipJournal(state)): void {
  state.index.changed.add(key)
  if (journal !== null) state.index.changed.add(journal.key)
}
