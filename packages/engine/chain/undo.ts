/** A reorganisation restores the state before its orphaned blocks: their journals are undone, the newest first. */
import { assert } from '../assert.ts'
import type { Pool, Token } from '../entities.ts'
import type { Running, TokenPast } from '../rules/ownPast.ts'
import type { State } from '../state.ts'
import type { Address, Hex } from './block.ts'
import { replaceState } from './changes.ts'
import type { Journal, JournalSwap } from './journal.ts'

/** Everything that undone blocks removed. */
export type Undone = {
  /** Hashes, newest first. */
  readonly blocks: Hex[]
  readonly pools: Set<Address>
  readonly removedPools: Map<Address, Pool>
  readonly tokens: Set<Address>
  /** Tokens whose decimals reading was undone with its block. */
  readonly decimals: Set<Address>
  readonly stables: Set<Address>
  readonly swaps: JournalSwap[]
}

/** Undoes journals from the tip down until `ancestor` is the tip. */
export function undoTo(state: State, ancestor: Hex, removePool: (pool: Pool) => void): Undone {
  const undone: Undone = {
    blocks: [],
    pools: new Set(),
    removedPools: new Map(),
    tokens: new Set(),
    decimals: new Set(),
    stables: new Set(),
    swaps: [],
  }
  for (let parent = state.chain.tip?.hash; parent !== ancestor; ) {
    const journal = state.journals.pop()
    assert(journal !== undefined, () => `reorganisation to ${ancestor} reaches below the finalized block`)
    undone.blocks.push(journal.block.hash)
    undoBlock(state, journal, undone, removePool)
    state.index.changed.add(journal.key)
    // Below our very first block there is no tip, but its parent is still where the branches fork.
    parent = journal.parentHash
  }
  return undone
}

function undoBlock(state: State, journal: Journal, undone: Undone, removePool: (pool: Pool) => void): void {
  const { changed } = state.index
  // A token that is known once stays known.
  const tokenOf = (address: Address) => state.tokens.get(address) as Token
  for (const undo of journal.books.toReversed()) {
    const pool = state.pools.get(undo.pool)
    if (pool === undefined) continue
    if (undo.kind === 'reload') pool.terms = undo.terms
    else pool.around.adapter.book(pool.terms)?.change({ ...undo.change, delta: -undo.change.delta })
    changed.add(`ticks/${undo.pool}`)
  }
  for (const [address, image] of journal.pools) {
    const pool = state.pools.get(address)
    if (pool !== undefined) replaceState(pool, image)
    undone.pools.add(address)
    changed.add(`pool/${address}`)
  }
  for (const address of journal.publishedPools) undone.pools.add(address)
  for (const address of journal.created) {
    const pool = state.pools.get(address)
    if (pool === undefined) continue
    removePool(pool)
    undone.removedPools.set(address, pool)
    changed.add(`pool/${address}`).add(`ticks/${address}`).add(`history/${address}`)
  }
  for (const address of journal.publishedTokens) undone.tokens.add(address)
  for (const [address, image] of journal.decimals) {
    tokenOf(address).decimals = image
    undone.tokens.add(address)
    undone.decimals.add(address)
    changed.add(`token/${address}`)
  }
  for (const [address, image] of journal.sellability) {
    if (image === null) delete tokenOf(address).sellability
    else tokenOf(address).sellability = image
    undone.tokens.add(address)
    changed.add(`token/${address}`)
  }
  for (const [address, image] of journal.stables) {
    if (image === null) state.stables.delete(address)
    else state.stables.set(address, image)
    undone.stables.add(address)
    changed.add(`stable/${address}`)
  }
  for (const [address, image] of journal.pasts) {
    const token = tokenOf(address)
    token.past = pastBefore(token, image, journal)
    changed.add(`past/${address}`).add(`minutes/${address}`)
  }
  // Which moment is open is derived again from the remaining state.
  state.index.touched = null
  undone.swaps.unshift(...journal.swaps)
  state.chain = { ...state.chain, ...journal.before }
  changed.add('chain')
}

function pastBefore({ address, past }: Token, image: Running | null, { minutes }: Journal): TokenPast | null {
  return image === null ? null : { ...image, minutes: minutes.get(address) ?? past?.minutes ?? [] }
}
