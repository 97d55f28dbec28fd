/**
 * What a unit of a stable or routing asset was worth at a block, by chain data alone: neither the time of a look nor health
 * enters, so a fold through branches that died and one over the final chain find the same.
 */
import type { Pool } from '../entities.ts'
import { powerOfTen } from '../exact/decimal.ts'
import { type Fraction, times } from '../exact/fraction.ts'
import { effectiveY } from '../rules/hopCapacity.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import type { Address } from './block.ts'

const MICRO = 1_000_000n

/** Decimals are read while blocks go on: from this age of their reading on they hold for a block, however late they came. */
const SETTLED_MS = 60_000

/** In microdollars; null for what is neither, and where no hop says. `known` keeps what was found at this block. */
export function unitMicrousd(
  state: State,
  token: Address,
  atMs: Ms,
  known: Map<Address, Fraction | null>,
): Fraction | null {
  let value = known.get(token)
  if (value === undefined) {
    value = stableUnit(state, token, atMs) ?? assetUnit(state, token, atMs, known)
    known.set(token, value)
  }
  return value
}

/**
 * A stable counts as its nominal dollar: answers are read while blocks go on, and what was known of them when a block was
 * folded is not chain data. A stable that is further off than that matters to a bound of ten dollars is suspended anyway.
 */
function stableUnit({ setup, tokens }: State, token: Address, atMs: Ms): Fraction | null {
  const decimals = tokens.get(token)?.decimals ?? null
  if (decimals === null || decimals.value === null || decimals.block.timeMs + SETTLED_MS > atMs) return null
  if (!setup.stables.some(each => each.token === token)) return null
  return { num: MICRO, den: powerOfTen(decimals.value) }
}

/** By the marginal ratio of its deepest hop into a stable or an asset listed before it; ties by address. */
function assetUnit(
  state: State,
  token: Address,
  atMs: Ms,
  known: Map<Address, Fraction | null>,
): Fraction | null {
  const { routingAssets } = state.setup
  const place = routingAssets.indexOf(token)
  if (place < 0) return null
  let deepest = 0n
  let value: Fraction | null = null
  for (const pool of state.index.ownPools.get(token)?.anchored ?? []) {
    const { marginal, verified } = pool.state
    if (marginal === null || !verified || routingAssets.indexOf(pool.to) >= place) continue
    const ofY = unitMicrousd(state, pool.to, atMs, known)
    const depth = ofY === null ? 0n : depthOf(pool, atMs, ofY)
    if (ofY === null || depth <= deepest) continue
    deepest = depth
    value = times(marginal, ofY)
  }
  return value
}

const depthOf = ({ state }: Pool, atMs: Ms, { num, den }: Fraction): bigint =>
  ((effectiveY(state, atMs) ?? 0n) * num) / den
