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
import { ascending, medianOf, type Orderable } from '../rules/weightedMedian.ts'
import type { State } from '../state.ts'
import { MICRO, asApprox, type Count, type Ms, type Approx } from '../units.ts'
import type { Work } from '../work.ts'
import type { Address, BlockRef } from './block.ts'
import { setTokenPast } from './journal.ts'

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
  readonly effective: bigint
  readonly worth: Worth
  /** Its approximate weight, in dollars. */
  readonly usd: Approx

  constructor(pool: Pool, effective: bigint, worth: Worth, usd: Approx) {
    this.id = pool.id
    this.pool = pool
    this.approx = fraction.approxProduct(approxOf(pool), worth.approx)
    this.effective = effective
    this.worth = worth
    this.usd = usd
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
  const voices: Voice[] = []
  for (const pool of state.index.ownPools.get(token.address)?.anchored ?? []) {
    const { verified, incomplete, marginal } = pool.state
    if (!verified || incomplete || marginal === null || feeOf(pool) > ceilingPpm) continue
    const worth = worthOf(pool.to)
    const effective = worth === null ? null : effectiveY(pool.state, timeMs)
    if (effective === null || worth === null) continue
    const usd = asApprox(Number(effective) * worth.approx)
    if (isDeep(effective, worth, usd, min_depth_usd)) voices.push(new Voice(pool, effective, worth, usd))
  }
  const chosen = chosenOf(voices)
  if (chosen === null) return null
  const { pool, worth } = chosen
  const ratio = pool.state.marginal as Fraction
  return { ratio, approx: approxOf(pool), y: pool.to, worth: { num: worth.num, den: worth.den } }
}

/** Wider than the combined error of doubles and of rounding a few dollars down to microdollars. */
const SURELY = 1 + 2 ** -10

/** Whether its value reaches the depth floor and is above zero. */
function isDeep(effective: bigint, worth: Worth, usd: Approx, floorUsd: Count): boolean {
  if (usd > floorUsd * SURELY && usd > 1 && usd < Infinity) return true
  const weight = weightOf(effective, worth)
  return weight > 0n && weight >= BigInt(floorUsd) * MICRO
}

const weightOf = (effective: bigint, worth: Worth): bigint => microusd(effective * MICRO, worth)

const approxOf = ({ state: { history, marginal } }: Pool): Approx =>
  history.open?.approx ?? fraction.approx(marginal as Fraction)

function chosenOf(voices: readonly Voice[]): Voice | null {
  const [first] = voices
  if (first === undefined || voices.length === 1) return first ?? null
  let about = 0
  for (const { usd } of voices) about += usd
  const isSized = about > voices.length && about < Infinity
  // A pool that outweighs all others together is the median, whatever its price.
  if (isSized) for (const voice of voices) if (2 * voice.usd > about * SURELY) return voice
  const order = ascending(voices)
  if (isSized) {
    let passed = 0
    for (const at of order) {
      const voice = voices[at] as Voice
      passed += voice.usd
      if (2 * passed > about * SURELY) return voice
      if (2 * passed * SURELY >= about) break
    }
  }
  const weights = voices.map(({ effective, worth }) => weightOf(effective, worth))
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  return voices[medianOf(order, (at: Count) => weights[at] as bigint, total)] as Voice
}
