/**
 * Random v3 pools for the property tests: every fee tier, positions from one spacing to many words wide, gaps
 * without liquidity, liquidity from one unit to 2^124, and prices on, between and at the ends of the ticks.
 *
 * A pool is a value until `build` makes it, so that a failing case shrinks and every run gets its own book.
 */
import type { Side, TickChange } from '../amm/states.ts'
import type { V3State, V3Terms } from '../amm/v3/kind.ts'
import * as fc from 'fast-check'
import { natural } from './cases.ts'
import { count, type Count, type Tick, tick as toTick } from '../units.ts'
import { extremeLimit } from '../amm/priceLimit.ts'
import { edgeFrom } from '../amm/tickBitmap.ts'
import * as tickBook from '../amm/tickBook.ts'
import { sqrtRatioAtTick } from '../amm/tickMath.ts'
import { MAX_TICK, MIN_TICK } from '../amm/ticks.ts'

const TIERS = [
  { feePpm: 100n, tickSpacing: toTick(1) },
  { feePpm: 500n, tickSpacing: toTick(10) },
  { feePpm: 3000n, tickSpacing: toTick(60) },
  { feePpm: 10_000n, tickSpacing: toTick(200) },
  // The widest spacing the contract takes: one step is long enough to overflow its 256 bits.
  { feePpm: 25_000n, tickSpacing: toTick(16_383) },
] as const

type Tier = (typeof TIERS)[number]

/** `start` and `width` in spacings from the pool's centre. */
export type PositionPlan = { readonly start: bigint; readonly width: bigint; readonly liquidity: bigint }

export type PoolPlan = {
  readonly tier: Tier
  readonly tick: Tick
  /** Where in its tick the price is, in 2^32nds; 0 is its lower end. */
  readonly within: bigint
  /** The price is at the lower end and the tick was crossed downwards. */
  readonly crossedDown: boolean
  readonly positions: readonly PositionPlan[]
}

export type BuiltPool = {
  readonly terms: V3Terms
  readonly state: V3State
  readonly changes: readonly TickChange[]
}

/** Mostly near, where positions overlap and words are crossed; sometimes far. */
const spacings = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 12n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 300n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 3000n }) },
)

export const positionPlan: fc.Arbitrary<PositionPlan> = fc.record({
  start: fc.tuple(spacings, fc.boolean()).map(([distance, below]) => (below ? -distance : distance)),
  width: spacings.map(width => width + 1n),
  liquidity: natural(124),
})

const ticks: fc.Arbitrary<Tick> = fc
  .oneof(
    { weight: 3, arbitrary: fc.integer({ min: -3000, max: 3000 }) },
    { weight: 3, arbitrary: fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 }) },
    { weight: 1, arbitrary: fc.integer({ min: MIN_TICK, max: MIN_TICK + 500 }) },
    { weight: 1, arbitrary: fc.integer({ min: MAX_TICK - 500, max: MAX_TICK - 1 }) },
  )
  .map(toTick)

export const poolPlan: fc.Arbitrary<PoolPlan> = fc
  .record({
    tier: fc.constantFrom(...TIERS),
    tick: ticks,
    isAtEdge: fc.boolean(),
    within: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: (1n << 32n) - 1n })),
    crossedDown: fc.boolean(),
    positions: fc.array(positionPlan, { minLength: 0, maxLength: 10 }),
  })
  .map(({ isAtEdge, ...plan }) => (isAtEdge ? { ...plan, tick: edgeNear(plan) } : plan))

/** Where words meet, stops and initialised ticks coincide: half of the pools stand there. */
function edgeNear({ tier, tick }: Pick<PoolPlan, 'tier' | 'tick'>): Tick {
  const edge = edgeFrom(tick, 0, tier.tickSpacing)
  // A few ticks to either side, of which the last bits of the drawn tick decide.
  const beside = toTick(edge + ((tick & 3) - 2) * tier.tickSpacing)
  return beside > MIN_TICK && beside < MAX_TICK ? beside : tick
}

/** A pool as dense as its spacing allows: `count` neighbouring positions around the price. */
function densePlan(tier: Tier, tick: Tick, count: Count): PoolPlan {
  const positions = Array.from({ length: count }, (_, i) => ({
    start: BigInt(i) - BigInt(count),
    width: 2n * (BigInt(count) - BigInt(i)),
    liquidity: 10n ** 17n + BigInt(i * i) * 10n ** 15n + BigInt(i),
  }))
  return { tier, tick, within: 1n << 31n, crossedDown: false, positions }
}

export function build(plan: PoolPlan): BuiltPool {
  const { feePpm, tickSpacing } = plan.tier
  const crossed = plan.crossedDown && plan.within === 0n && plan.tick > MIN_TICK
  const tick = toTick(plan.tick - (crossed ? 1 : 0))
  const lowerX96 = sqrtRatioAtTick(plan.tick)
  const upperX96 = sqrtRatioAtTick(toTick(plan.tick + 1))
  const sqrtPriceX96 = lowerX96 + (((upperX96 - lowerX96) * plan.within) >> 32n)
  const book = tickBook.fromLoaded(tickSpacing, null)
  const changes: TickChange[] = []
  let liquidity = 0n
  for (const position of plan.positions) {
    const change = changeOf(plan, position)
    if (change === null || !book.change(change)) continue
    changes.push(change)
    if (change.lower <= tick && tick < change.upper) liquidity += change.delta
  }
  return {
    terms: { family: 'amm_v3', feePpm, tickSpacing, book },
    state: { family: 'amm_v3', sqrtPriceX96, tick, liquidity },
    changes,
  }
}

/** The position cut to the ticks there are; null if nothing is left of it. */
export function changeOf(
  { tier, tick }: PoolPlan,
  { start, width, liquidity }: PositionPlan,
): TickChange | null {
  const spacing = BigInt(tier.tickSpacing)
  const centre = BigInt(Math.floor(tick / tier.tickSpacing))
  const last = BigInt(MAX_TICK) / spacing
  const cut = (value: bigint): bigint => (value < -last ? -last : value > last ? last : value)
  const lower = cut(centre + start)
  const upper = cut(centre + start + width)
  if (lower >= upper) return null
  return { lower: toTick(Number(lower * spacing)), upper: toTick(Number(upper * spacing)), delta: liquidity }
}

/** A limit thirteen words away, or the end of the range: past all positions, and soon reached. */
export function farLimit(state: V3State, { tickSpacing }: V3Terms, side: Side): bigint {
  const distance = 13 * 256 * tickSpacing
  const tick = toTick(state.tick + (side === 0 ? -distance : distance))
  const isInRange = tick > MIN_TICK && tick < MAX_TICK
  return isInRange ? sqrtRatioAtTick(tick) : extremeLimit(state.sqrtPriceX96, side)
}

/** The same initialised ticks, of which only those between two ticks are known. */
export function knownBetween(terms: V3Terms, lowest: Tick, highest: Tick): V3Terms {
  const entries = terms.book.entries().filter(entry => entry.tick >= lowest && entry.tick <= highest)
  return { ...terms, book: new tickBook.TickBook(terms.tickSpacing, { lowest, highest }, entries) }
}

export const DENSE = densePlan(TIERS[0], toTick(76_012), count(250))
