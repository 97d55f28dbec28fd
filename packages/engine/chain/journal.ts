/**
 * What a block changed, as it was before: one journal per block that is not yet final.
 *
 * The first image of an entity within a block wins, so undoing a journal gives exactly the state before its
 * block, including the published prices that timers and health changes wrote while it was the tip. What is
 * not chain-derived (health, policy, coverage, enrolments) is not in here and survives.
 */
import type { TickChange } from '../amm/adapter.ts'
import type { Evaluation } from '../price/evaluation.ts'
import type { PublishedPool, PublishedToken, SwapObserved } from '../record.ts'
import type {
  ChainPosition,
  Decimals,
  EntityKey,
  Pool,
  PoolState,
  PoolTerms,
  Stable,
  State,
  Token,
} from '../state.ts'
import { assert } from '../assert.ts'
import type { Ms } from '../units.ts'
import type { Address, BlockRef, Hex } from './block.ts'

export type Journal = {
  readonly block: BlockRef
  readonly parentHash: Hex
  readonly before: Pick<ChainPosition, 'tip' | 'proven' | 'sequencer'>
  /** Pools first known in this block. */
  readonly created: Set<Address>
  readonly pools: Map<Address, PoolState>
  /** Changes of ticks and reloads, in order: undone last to first. */
  readonly books: BookUndo[]
  readonly publishedPools: Map<Address, PublishedPool | null>
  readonly publishedTokens: Map<Address, TokenImage>
  readonly stables: Map<Address, Stable | null>
  readonly decimals: Map<Address, Decimals | null>
  readonly swaps: JournalSwap[]
}

export type JournalSwap = { readonly pool: Address; readonly payload: SwapObserved }

export type BookUndo =
  | { readonly kind: 'change'; readonly pool: Address; readonly change: TickChange }
  | { readonly kind: 'reload'; readonly pool: Address; readonly terms: PoolTerms }

export type TokenImage = {
  readonly published: PublishedToken | null
  readonly evaluation: Evaluation | null
  readonly dueMs: Ms | null
}

export const openJournal = (block: BlockRef, parentHash: Hex, chain: Journal['before']): Journal => ({
  block: { number: block.number, hash: block.hash, timeMs: block.timeMs },
  parentHash,
  before: { tip: chain.tip, proven: chain.proven, sequencer: chain.sequencer },
  created: new Set(),
  pools: new Map(),
  books: [],
  publishedPools: new Map(),
  publishedTokens: new Map(),
  stables: new Map(),
  decimals: new Map(),
  swaps: [],
})

/** The tip's journal, or null when the tip is already final and nothing about it can be undone. */
export function tipJournal(state: State): Journal | null {
  return state.journals.at(-1) ?? null
}

/** Each setter keeps the first image of the entity in this block, then replaces it. */
export function setPoolState(state: State, pool: Pool, next: PoolState): void {
  const journal = tipJournal(state)
  if (journal !== null && !journal.created.has(pool.address) && !journal.pools.has(pool.address))
    journal.pools.set(pool.address, pool.state)
  pool.state = next
  touch(state, `pool/${pool.address}`)
}

export function setPublishedPool(state: State, pool: Pool, next: PublishedPool): void {
  const journal = tipJournal(state)
  if (journal !== null && !journal.publishedPools.has(pool.address))
    journal.publishedPools.set(pool.address, pool.published)
  pool.published = next
  touch(state, `pool/${pool.address}`)
}

export function setPublishedToken(state: State, token: Token, next: TokenImage): void {
  const journal = tipJournal(state)
  if (journal !== null && !journal.publishedTokens.has(token.address))
    journal.publishedTokens.set(token.address, {
      published: token.published,
      evaluation: token.evaluation,
      dueMs: token.dueMs,
    })
  token.published = next.published
  token.evaluation = next.evaluation
  token.dueMs = next.dueMs
  touch(state, `token/${token.address}`)
  state.index.changed.add(`quote/${token.address}`)
}

export function setStable(state: State, token: Address, next: Stable): void {
  const journal = tipJournal(state)
  if (journal !== null && !journal.stables.has(token))
    journal.stables.set(token, state.stables.get(token) ?? null)
  state.stables.set(token, next)
  touch(state, `stable/${token}`)
}

export function setDecimals(state: State, token: Token, next: Decimals): void {
  const journal = tipJournal(state)
  if (journal !== null && !journal.decimals.has(token.address))
    journal.decimals.set(token.address, token.decimals)
  token.decimals = next
  touch(state, `token/${token.address}`)
}

export function noteBook(state: State, undo: BookUndo): void {
  tipJournal(state)?.books.push(undo)
  touch(state, `ticks/${undo.pool}`)
}

/** Marks an entity for the commit of this step; the tip's undo data changes with it. */
function touch(state: State, key: EntityKey): void {
  state.index.changed.add(key)
  const journal = tipJournal(state)
  if (journal !== null) state.index.changed.add(`undo/${journal.block.number}`)
}

/** What an undone block took with it. */
export type Undone = {
  readonly pools: Set<Address>
  readonly removedPools: Map<Address, Pool>
  readonly tokens: Set<Address>
  readonly stables: Set<Address>
  readonly swaps: JournalSwap[]
}

/** Undoes journals from the tip down until `ancestor` is the tip. */
export function undoTo(state: State, ancestor: Hex, removePool: (pool: Pool) => void): Undone {
  const undone: Undone = {
    pools: new Set(),
    removedPools: new Map(),
    tokens: new Set(),
    stables: new Set(),
    swaps: [],
  }
  while (state.chain.tip?.hash !== ancestor) {
    const journal = state.journals.at(-1)
    assert(journal !== undefined, () => `reorganisation to ${ancestor} reaches below the finalized block`)
    undoBlock(state, journal, undone, removePool)
    state.journals.pop()
    state.index.changed.add(`undo/${journal.block.number}`)
  }
  return undone
}

function undoBlock(state: State, journal: Journal, undone: Undone, removePool: (pool: Pool) => void): void {
  const { changed } = state.index
  for (const undo of journal.books.toReversed()) {
    const pool = state.pools.get(undo.pool)
    if (pool === undefined) continue
    if (undo.kind === 'reload') pool.terms = undo.terms
    else if (pool.terms.family === 'amm_v3')
      pool.terms.book.change({ ...undo.change, delta: -undo.change.delta })
    changed.add(`ticks/${undo.pool}`)
  }
  for (const [address, image] of journal.pools) {
    const pool = state.pools.get(address)
    if (pool !== undefined) pool.state = image
    undone.pools.add(address)
    changed.add(`pool/${address}`)
  }
  for (const [address, image] of journal.publishedPools) {
    const pool = state.pools.get(address)
    if (pool !== undefined) pool.published = image
    undone.pools.add(address)
    changed.add(`pool/${address}`)
  }
  for (const address of journal.created) {
    const pool = state.pools.get(address)
    if (pool === undefined) continue
    removePool(pool)
    undone.removedPools.set(address, pool)
    changed.add(`pool/${address}`).add(`ticks/${address}`)
  }
  for (const [address, image] of journal.publishedTokens) {
    const token = state.tokens.get(address)
    if (token !== undefined) {
      Object.assign(token, image)
      token.isDeferred = false
      state.index.dues.set(address, token.dueMs)
    }
    undone.tokens.add(address)
    changed.add(`token/${address}`)
  }
  for (const [address, image] of journal.decimals) {
    const token = state.tokens.get(address)
    if (token !== undefined) token.decimals = image
    undone.tokens.add(address)
    changed.add(`token/${address}`)
  }
  for (const [address, image] of journal.stables) {
    if (image === null) state.stables.delete(address)
    else state.stables.set(address, image)
    undone.stables.add(address)
    changed.add(`stable/${address}`)
  }
  undone.swaps.unshift(...journal.swaps)
  state.chain = { ...state.chain, ...journal.before }
  changed.add('chain')
}
