/**
 * The known pools and tokens, and the indexes over them. A pool is indexed under its pair, under the token it prices
 * (X) and under the token it prices it in (Y). No other module may change these maps.
 */
import { once } from '../exact/once.ts'
import type { PoolTerms } from '../amm/families.ts'
import type { KnownPool, OwnPools, Pool, PoolState, Token } from '../entities.ts'
import type { LoadedTicks } from '../amm/tickBook.ts'
import { Cell } from '../memory/cell.ts'
import { EMPTY } from '../memory/temporalTape.ts'
import { canonicalX, roleOf } from '../setup.ts'
import type { State } from '../state.ts'
import type { Count, Ms } from '../units.ts'
import { type Address, idOf, type NewPool } from './block.ts'

type Birth = { readonly block: Count | null; readonly ms: Ms | null }

export function addPool(
  state: State,
  born: NewPool,
  terms: PoolTerms,
  birth: Birth,
  poolState: PoolState,
): Pool {
  const x = canonicalX(state.setup, born.token0, born.token1)
  const [from, to] = x === 0 ? [born.token0, born.token1] : [born.token1, born.token0]
  const known: KnownPool = {
    address: born.address,
    id: idOf(born.address),
    deploymentId: born.deploymentId,
    token0: born.token0,
    token1: born.token1,
    x,
    from,
    to,
    pair: `${from}-${to}`,
    feePpm: state.adapterOf(born.fee.family).feePpm(born.fee),
    createdBlock: birth.block,
    createdMs: birth.ms,
    terms,
    state: poolState,
    published: null,
  }
  const pool = enterPool(state, known)
  state.index.changed.add(`pool/${pool.address}`)
  if (pool.around.adapter.book(terms) !== null) state.index.changed.add(`ticks/${pool.address}`)
  return pool
}

/** Enters a new or restored pool into the maps. */
export function enterPool(state: State, known: KnownPool): Pool {
  const tokens = [knownToken(state, known.token0), knownToken(state, known.token1)] as const
  const [from, to] = known.x === 0 ? tokens : [tokens[1], tokens[0]]
  const noPools = (): OwnPools => ({ anchored: [], unanchored: [], unanchoredVerified: null })
  const own = once(state.index.ownPools, known.from, noPools)
  // Copied field by field, with the fields read on every evaluation first: a spread would store fields added later
  // elsewhere.
  const pool: Pool = {
    state: known.state,
    around: {
      adapter: state.adapterOf(known.terms.family),
      from,
      to,
      own,
      pair: [],
      derived: new Cell(),
      outlook: new Cell(),
      past: new Cell(),
      filed: null,
      base: EMPTY,
    },
    to: known.to,
    from: known.from,
    terms: known.terms,
    published: known.published,
    address: known.address,
    id: known.id,
    deploymentId: known.deploymentId,
    token0: known.token0,
    token1: known.token1,
    x: known.x,
    pair: known.pair,
    feePpm: known.feePpm,
    createdBlock: known.createdBlock,
    createdMs: known.createdMs,
  }
  state.pools.set(pool.address, pool)
  relist(state, pool, withPool)
  once(state.index.poolsInto, pool.to, () => new Set()).add(pool)
  return pool
}

export function removePool(state: State, pool: Pool): void {
  state.pools.delete(pool.address)
  relist(state, pool, withoutPool)
  state.index.poolsInto.get(pool.to)?.delete(pool)
  state.index.depths.get(pool.to)?.forget(pool)
}

/** All pools in which a token is X. */
export function poolsOf({ index }: State, token: Address): readonly Pool[] {
  const own = index.ownPools.get(token)
  return own === undefined ? [] : [...own.anchored, ...own.unanchored]
}

/** Replaces the lists that contain the pool or will contain it; every pool of its pair gets the new list. */
function relist({ index, setup }: State, pool: Pool, changed: typeof withPool): void {
  const before = index.pairs.get(pool.pair) ?? []
  const pair = changed(before, pool)
  index.agreements.delete(before)
  if (pair.length === 0) index.pairs.delete(pool.pair)
  else index.pairs.set(pool.pair, pair)
  for (const each of pair) each.around.pair = pair
  const { own } = pool.around
  const place = roleOf(setup, pool.to) === 'TOKEN' ? 'unanchored' : 'anchored'
  own[place] = changed(own[place], pool)
  own.unanchoredVerified = null
}

/** Returns the token, and registers it first if it is new. */
export function knownToken(state: State, address: Address): Token {
  const known = state.tokens.get(address)
  if (known !== undefined) return known
  const token: Token = {
    address,
    id: idOf(address),
    symbol: null,
    name: null,
    decimals: null,
    enrolledAtMs: null,
    dormant: null,
    published: null,
    dueMs: null,
    isDeferred: false,
    isAged: false,
    past: null,
  }
  state.tokens.set(address, token)
  state.index.changed.add(`token/${address}`)
  return token
}

/** `ticks` is null for a pool watched from its creation: every tick is known, and none is set. */
export const termsOf = (state: State, { fee }: NewPool, ticks: LoadedTicks | null): PoolTerms =>
  state.adapterOf(fee.family).terms(fee, ticks)

/** Sorted by address, so that no outcome depends on the order in which pools were discovered. */
function withPool(list: readonly Pool[], pool: Pool): Pool[] {
  const at = list.findIndex(each => each.address > pool.address)
  return list.toSpliced(at < 0 ? list.length : at, 0, pool)
}

const withoutPool = (list: readonly Pool[], pool: Pool): Pool[] => list.filter(each => each !== pool)
