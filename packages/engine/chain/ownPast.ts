/**
 * The end of a moment for the tokens it touched (R-past-1): the median pool of each, weighted by depth, goes into its
 * past. Blocks with the same time form one moment, and until a later time arrives each of them ends the moment again.
 */
import { once } from '../exact/once.ts'
import type { Pool, Token } from '../entities.ts'
import type { Fraction } from '../exact/fraction.ts'
import * as fraction from '../exact/fraction.ts'
import { settledDecimals, unitWorth } from '../price/hops/unitWorth.ts'
import { effectiveY, microusd } from '../rules/hopCapacity.ts'
import { feeOf } from '../rules/poolFee.ts'
import { isSame, note, type Noted } from '../rules/ownPast.ts'
import type { Worth } from '../rules/priceJump.ts'
import { ascending, type Orderable, weightedMedian } from '../rules/weightedMedian.ts'
import type { State } from '../state.ts'
import { type Approx, MICRO, type Ms } from '../units.ts'
import type { Work } from '../work.ts'
import type { Address, BlockRef } from './block.ts'
import { setTokenPast } from './changes.ts'

/** `touched` holds the X of the pools that a block, or a reading at the tip, changed. */
export function notePasts(state: State, touched: ReadonlySet<Address>, timeMs: Ms, work: Work): void {
  if (touched.size === 0) return
  const { tokens } = openMoment(state, timeMs)
  for (const address of touched) tokens.add(address)
  const worths = new Map<Address, Worth | null>()
  const worthOf = (y: Address) => once(worths, y, each => unitWorth(state, each, timeMs))
  const end = (address: Address) => {
    const token = state.tokens.get(address)
    if (token === undefined) return
    const before = token.past?.open.at(-1)
    setTokenPast(state, token, note(token.past, timeMs, medianPool(state, token, timeMs, worthOf)))
    if (touched.has(address)) return
    // The token's own pools did not change in this block, but the ratio they give at its end did.
    const now = token.past?.open.at(-1)
    if (now !== undefined && (before === undefined || !isSame(now, before))) work.look.add(address)
  }
  // Routing assets first, in their listed order, then the tokens valued in them.
  const { routingAssets } = state.setup
  for (const asset of routingAssets) if (tokens.has(asset)) end(asset)
  for (const address of tokens) if (!routingAssets.includes(address)) end(address)
}

/**
 * Whether this block is the first at which a stable's decimals are in use (R-past-1): nothing priced in that stable
 * had a value before.
 */
export function isStableSettling(
  { setup, tokens }: State,
  parent: BlockRef | null,
  { timeMs }: BlockRef,
): boolean {
  return (
    parent !== null &&
    setup.stables.some(({ token }) => {
      const decimals = tokens.get(token)?.decimals ?? null
      return settledDecimals(decimals, timeMs) !== null && settledDecimals(decimals, parent.timeMs) === null
    })
  )
}

/** Tokens with a pool that may take part, in an order independent of how they were discovered. */
export const pricedTokens = ({ index }: State): Address[] =>
  [...index.ownPools]
    .flatMap(([token, { anchored }]) => (anchored.some(({ state }) => !state.isBeforeGap) ? [token] : []))
    .sort()

/** Tokens touched so far in the moment at `timeMs`. */
function openMoment(state: State, timeMs: Ms): NonNullable<State['index']['touched']> {
  const { index } = state
  if (index.touched?.timeMs === timeMs) return index.touched
  const tokens = new Set<Address>()
  if (index.touched === null)
    for (const { address, past } of state.tokens.values()) if (past?.touchedMs === timeMs) tokens.add(address)
  index.touched = { timeMs, tokens }
  return index.touched
}

/** A pool that takes part. */
class Voice implements Orderable {
  readonly id: string
  readonly pool: Pool
  readonly approx: Approx
  /** Its effective depth in microdollars. */
  readonly weight: bigint
  readonly worth: Worth

  constructor(pool: Pool, weight: bigint, worth: Worth) {
    this.id = pool.id
    this.pool = pool
    this.approx = fraction.approxProduct(approxOf(pool), worth.approx)
    this.weight = weight
    this.worth = worth
  }

  /** Most voices are ordered by their approximation, and their exact price is never multiplied out. */
  get price(): Fraction {
    return fraction.times(this.pool.state.marginal as Fraction, this.worth)
  }
}

function medianPool(
  state: State,
  token: Token,
  timeMs: Ms,
  worthOf: (y: Address) => Worth | null,
): Omit<Noted, 'fromMs'> | null {
  const { fee_ceiling_ppm, min_depth_usd } = state.policyView.policy
  const ceilingPpm = BigInt(fee_ceiling_ppm)
  const least = BigInt(min_depth_usd) * MICRO
  const voices: Voice[] = []
  for (const pool of state.index.ownPools.get(token.address)?.anchored ?? []) {
    const { verified, incomplete, marginal } = pool.state
    if (!verified || incomplete || marginal === null || feeOf(pool) > ceilingPpm) continue
    const worth = worthOf(pool.to)
    const effective = worth === null ? null : effectiveY(pool.state, timeMs)
    if (effective === null || worth === null) continue
    const weight = microusd(effective * MICRO, worth)
    if (weight > 0n && weight >= least) voices.push(new Voice(pool, weight, worth))
  }
  if (voices.length === 0) return null
  const at = weightedMedian(ascending(voices), each => (voices[each] as Voice).weight)
  const { pool, worth } = voices[at] as Voice
  const ratio = pool.state.marginal as Fraction
  return { ratio, approx: approxOf(pool), y: pool.to, worth: { num: worth.num, den: worth.den } }
}

const approxOf = ({ state: { history, marginal } }: Pool): Approx =>
  history.open?.approx ?? fraction.approx(marginal as Fraction)
