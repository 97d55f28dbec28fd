/**
 * What tests draw of a pool with ticks to hold it against its contract: prices to begin at, swaps with their amounts and limits,
 * and ranges of positions. Every drawing favours edges: of words, of ticks, of the range of prices.
 */
import type { Random } from '@assay/world'
import type { Boundary } from '../amm/adapter.ts'
import type { Side, Slot } from '../amm/states.ts'
import * as swapLoop from '../amm/swapLoop.ts'
import type { TickBook } from '../amm/tickBook.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick } from '../amm/tickMath.ts'
import { MAX_TICK, MIN_TICK } from '../amm/ticks.ts'
import type { Fraction } from '../exact/fraction.ts'
import { type Tick, tick as toTick } from '../units.ts'

export const Q96 = 1n << 96n
export const INT256_MAX = (1n << 255n) - 1n

export const TWO_PERCENT: Boundary = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }
/** Others to look at; some with rational roots, and far enough to pass many words. */
export const LADDER: readonly Boundary[] = [
  { up: { num: 101n, den: 100n }, down: { num: 99n, den: 100n } },
  { up: { num: 105n, den: 100n }, down: { num: 95n, den: 100n } },
  { up: { num: 110n, den: 100n }, down: { num: 90n, den: 100n } },
  { up: { num: 121n, den: 100n }, down: { num: 81n, den: 100n } },
  { up: { num: 10_000n, den: 1n }, down: { num: 1n, den: 10_000n } },
]

/** Nearly all pools of Uniswap v3 and v4 have one of these fees, with this spacing. */
export const TIERS_IN_USE = [
  { feePpm: 100, tickSpacing: 1 },
  { feePpm: 500, tickSpacing: 10 },
  { feePpm: 3000, tickSpacing: 60 },
  { feePpm: 10_000, tickSpacing: 200 },
] as const

export const STARTS = ['near one', 'anywhere', 'near the lowest', 'near the highest'] as const
export type Start = (typeof STARTS)[number]

export function drawStart(random: Random, start: Start): bigint {
  switch (start) {
    case 'near one':
      return random.bigint(Q96 / 2n, Q96 * 2n)
    case 'anywhere':
      return random.magnitude(MIN_SQRT_RATIO, MAX_SQRT_RATIO - 1n)
    case 'near the lowest':
      return MIN_SQRT_RATIO + random.magnitude(1n, 1n << 20n) - 1n
    case 'near the highest':
      return MAX_SQRT_RATIO - random.magnitude(1n, 1n << 140n)
  }
}

/** A swap cannot start where its direction ends. */
export function canMove({ sqrtPriceX96 }: Slot, side: Side): boolean {
  return side === 0 ? sqrtPriceX96 > MIN_SQRT_RATIO + 1n : sqrtPriceX96 < MAX_SQRT_RATIO - 1n
}

export function drawSide(random: Random, slot: Slot): Side {
  const drawn = random.pick([0, 1] as const)
  return canMove(slot, drawn) ? drawn : drawn === 0 ? 1 : 0
}

/** The amount of a token that the liquidity at the price is worth: the size of a swap that matters. */
export function reserve({ sqrtPriceX96, liquidity }: Slot, side: Side): bigint {
  return (side === 0 ? (liquidity * Q96) / sqrtPriceX96 : (liquidity * sqrtPriceX96) / Q96) + 1n
}

/** `most` is what the contract can say of an amount. */
export function drawOrder(random: Random, slot: Slot, side: Side, most: bigint): swapLoop.Order {
  const kind = random.pick(['EXACT_IN', 'EXACT_OUT'] as const)
  const scale = reserve(slot, kind === 'EXACT_IN' ? side : side === 0 ? 1 : 0)
  const amount = random.pick([
    () => random.magnitude(1n, 1n << 12n),
    () => random.magnitude(1n, scale),
    () => random.bigint(1n, scale),
    () => random.bigint(1n, scale / 100n + 1n),
    () => random.magnitude(1n, most),
  ])()
  return { kind, amount }
}

/** What a contract of v3's kin is asked for: positive is exact input. */
export const specified = (order: swapLoop.Order): bigint =>
  order.kind === 'TO_LIMIT' ? INT256_MAX : order.kind === 'EXACT_IN' ? order.amount : -order.amount

/** One step away, on known ticks, on others, in the next words, or anywhere. */
export function drawLimit(random: Random, slot: Slot, book: TickBook, spacing: number, side: Side): bigint {
  const price = slot.sqrtPriceX96
  const ahead = side === 0 ? -1 : 1
  const known = book.entries().filter(entry => (entry.tick - slot.tick) * ahead > 0)
  const limit = random.pick([
    () => price + BigInt(ahead),
    () =>
      side === 0
        ? random.bigint(MIN_SQRT_RATIO + 1n, price - 1n)
        : random.bigint(price + 1n, MAX_SQRT_RATIO - 1n),
    () => price + BigInt(ahead) * random.magnitude(1n, price / 8n),
    () => priceAt(slot.tick + ahead * random.integer(1, 512 * spacing)),
    () => priceAt(slot.tick + ahead * random.integer(1, 100)),
    () => (known.length > 0 ? priceAt(random.pick(known).tick) : price + BigInt(ahead)),
  ])()
  const [least, greatest] = side === 0 ? [MIN_SQRT_RATIO + 1n, price - 1n] : [price + 1n, MAX_SQRT_RATIO - 1n]
  return limit < least ? least : limit > greatest ? greatest : limit
}

/** Ranges around the price, ending at it, one spacing wide, on word edges, far away, and over everything. */
export function drawRange(random: Random, at: Tick, spacing: number): readonly [number, number] {
  const lowest = Math.ceil(MIN_TICK / spacing)
  const highest = Math.floor(MAX_TICK / spacing)
  const here = Math.floor(at / spacing)
  const near = () => here + random.integer(-600, 600)
  const anywhere = () => random.integer(lowest, highest)
  const edge = () => Math.floor(near() / 256) * 256 - random.integer(0, 1)
  const pair = random.pick([
    () => [here - random.integer(0, 300), here + random.integer(1, 300)],
    () => [here - random.integer(0, 3), here + random.integer(1, 3)],
    () => [here, here + random.integer(1, 40)],
    () => [here - random.integer(1, 40), here],
    () => [near(), near()],
    () => [edge(), edge()],
    () => [anywhere(), anywhere()],
    () => [lowest, highest],
  ])()
  return rangeOf(spacing, pair)
}

/** Two ends at most so many ticks from the price. */
export function drawRangeWithin(
  random: Random,
  at: Tick,
  spacing: number,
  ticks: number,
): readonly [number, number] {
  // Rounded up from below, zero is negative: a contract has no such tick. Floored, it is not.
  const end = () => Math.floor((at + random.integer(-ticks, ticks)) / spacing + 0.5)
  return rangeOf(spacing, [end(), end()])
}

/** In multiples of the spacing, in any order, cut to what a position may span. */
export function rangeOf(spacing: number, ends: readonly number[]): readonly [number, number] {
  const lowest = Math.ceil(MIN_TICK / spacing)
  const highest = Math.floor(MAX_TICK / spacing)
  const [a = 0, b = 0] = ends.map(end => Math.min(Math.max(end, lowest), highest))
  const low = Math.min(a, b, highest - 1)
  return [low * spacing, Math.max(a, b, low + 1) * spacing]
}

export const priceAt = (tick: number): bigint =>
  sqrtRatioAtTick(toTick(Math.min(Math.max(tick, MIN_TICK), MAX_TICK)))

/** The contract's ticks as a book has them. */
export const storedTicks = (
  ticks: readonly { readonly tick: number; readonly gross: bigint; readonly net: bigint }[],
) =>
  ticks
    .filter(({ gross }) => gross > 0n)
    .map(({ tick, gross, net }) => ({ tick: toTick(tick), gross, net }))
    .sort((a, b) => a.tick - b.tick)

export const extremeOf = (side: Side): bigint => (side === 0 ? MIN_SQRT_RATIO + 1n : MAX_SQRT_RATIO - 1n)

/** What to ask a contract for, with more than it can take and a limit: what it takes must be our depth. */
export function depthQuestions(
  sqrtPriceX96: bigint,
  boundaries: readonly Boundary[],
  depthOf: (x: Side, boundary: Boundary) => { readonly up: bigint; readonly down: bigint },
): readonly { readonly side: Side; readonly depth: bigint; readonly limitX96: bigint }[] {
  return boundaries.flatMap(boundary =>
    ([0, 1] as const).flatMap(x => {
      const depth = depthOf(x, boundary)
      const y: Side = x === 0 ? 1 : 0
      return [
        { side: y, depth: depth.up, limitX96: limitOf(sqrtPriceX96, boundary.up, x) },
        { side: x, depth: depth.down, limitX96: limitOf(sqrtPriceX96, boundary.down, x) },
      ]
    }),
  )
}

/**
 * The last integer square-root price inside `boundary` times the price of token `x`, by the definition: squares
 * are compared, and a price on the boundary is inside.
 */
function limitOf(sqrtPriceX96: bigint, boundary: Fraction, x: Side): bigint {
  const { num, den } = x === 0 ? boundary : { num: boundary.den, den: boundary.num }
  const square = sqrtPriceX96 * sqrtPriceX96 * num
  const isInside = num > den ? (s: bigint) => s * s * den <= square : (s: bigint) => s * s * den >= square
  // Bisects between the price, which is inside, and the end of the range.
  let inside = sqrtPriceX96
  let end = num > den ? MAX_SQRT_RATIO - 1n : MIN_SQRT_RATIO + 1n
  if (isInside(end)) return end
  while (inside - end > 1n || end - inside > 1n) {
    const middle = (inside + end) / 2n
    if (isInside(middle)) inside = middle
    else end = middle
  }
  return inside
}
