/**
 * A copy of the part of a state that a token's price depends on. The data it shares with the real state never
 * changes.
 */
import type { PoolTerms } from '../amm/families.ts'
import type { Address } from '../chain/block.ts'
import { enterPool } from '../chain/registry.ts'
import type { Pool, PoolState } from '../entities.ts'
import { emptyIndex } from '../chain/emptyIndex.ts'
import type { State } from '../state.ts'

/** The token, the anchors, and the pools that price them. */
export function copyAround(real: State, token: Address): State {
  const state = emptyLike(real)
  const priced = new Set([...anchorsOf(real), token])
  // Tokens first: entering a pool requires its token, and every token it is priced in is an anchor.
  for (const address of priced) {
    const known = real.tokens.get(address)
    if (known !== undefined) state.tokens.set(address, { ...known })
  }
  for (const each of priced)
    for (const pool of real.index.ownPools.get(each)?.anchored ?? [])
      enterPool(state, { ...pool, state: copiedState(pool.state), terms: copiedTerms(pool) })
  for (const [address, stable] of real.stables) state.stables.set(address, stable)
  for (const [address, depth] of real.coverage) state.coverage.set(address, depth)
  return state
}

/** The tokens that others are priced in. */
export const anchorsOf = ({ setup }: State): readonly Address[] => [
  ...setup.routingAssets,
  ...setup.stables.map(stable => stable.token),
]

function emptyLike(real: State): State {
  return {
    ...real,
    pools: new Map(),
    tokens: new Map(),
    stables: new Map(),
    coverage: new Map(),
    journals: [],
    gaps: [],
    index: emptyIndex(),
  }
}

/** A tape grows in place, and all histories of a pool share it. */
function copiedState(state: PoolState): PoolState {
  const { tape } = state.history
  const { fromMs, ratios, approxes, median } = tape
  const own = { fromMs: [...fromMs], ratios: [...ratios], approxes: [...approxes], median }
  return { ...state, history: { ...state.history, tape: own } }
}

/** Ticks change in place. */
function copiedTerms({ terms, around }: Pool): PoolTerms {
  const book = around.adapter.book(terms)
  return book === null ? terms : around.adapter.restored(terms, { range: book, entries: book.entries() })
}
