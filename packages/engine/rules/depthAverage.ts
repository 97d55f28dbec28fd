/**
 * The 30-minute exponential average of a pool's depth in exact integers (R-average-1, R-average-2).
 *
 * The state changes only with the pool's own state. A read derives the average at any later time from it and writes
 * nothing, so the number of reads never affects a price.
 */
import { type Count, count, type Ms, ms } from '../units.ts'

/** `e` is the average at `t0`, scaled by 2^32; `l` is the depth held since `t0`. */
export type DepthAverage = { readonly e: bigint; readonly l: bigint; readonly t0: Ms }

const SCALE_BITS = 32n
const DECAY_BITS = 64n
const ONE = 1n << DECAY_BITS

/** The time constant, and the age from which a pool starts with its full depth. */
const WINDOW_MS = 1_800_000

/** After 2^26 ms (18.6 hours) nothing of the old average is left. */
export const FORGOTTEN_MS = 2 ** 26

/** K[i] = ⌊2^64 · exp(−2^i / 1,800,000)⌋, for each bit of a time below `FORGOTTEN_MS`. */
const K = decays()

/** From the series of exp(−x), with enough bits for the squarings. */
function decays(): readonly bigint[] {
  const precision = 512n
  let power = 0n
  let term = 1n << precision
  for (let n = 1n; term !== 0n; n++) {
    power += term
    term = -term / (n * BigInt(WINDOW_MS))
  }
  const roundedDown: bigint[] = []
  for (let time = 1; time < FORGOTTEN_MS; time *= 2) {
    roundedDown.push(power >> (precision - DECAY_BITS))
    power = (power * power) >> precision
  }
  return roundedDown
}

/** A pool older than the window, or of unknown age, starts at its present depth. */
export function start(l: bigint, t: Ms): DepthAverage {
  return { e: l << SCALE_BITS, l, t0: t }
}

/** Starts from zero at `t`, because the earlier depth is unknown. */
export function startFromNothing(l: bigint, t: Ms): DepthAverage {
  return { e: 0n, l, t0: t }
}

/**
 * The first state verified at `t` of a pool created at `createdMs`. A pool younger than the window starts from zero
 * at its creation: new depth earns its weight, so borrowing it for one block gains nothing.
 */
export function startAt(l: bigint, createdMs: Ms, t: Ms): DepthAverage {
  return t - createdMs < WINDOW_MS ? { e: 0n, l, t0: createdMs } : start(l, t)
}

/** The pool's depth became `l` at block time `t`. */
export function change(state: DepthAverage, l: bigint, t: Ms): DepthAverage {
  return { e: average(state, t), l, t0: t }
}

/** The average at `t`, rounded down. */
export function value(state: DepthAverage, t: Ms): bigint {
  return average(state, t) >> SCALE_BITS
}

/** The average is at or above the depth. It stays there, and L_eff is the depth itself, until the depth changes. */
export const isFull = ({ e, l }: DepthAverage): boolean => e >> SCALE_BITS >= l

/**
 * L_eff: the lesser of the present depth and its average, so depth gains trust slowly and loses it at once. An
 * average that starts below the depth never rises past it.
 */
export const effective = (state: DepthAverage, t: Ms): bigint => (isFull(state) ? state.l : value(state, t))

/** Whether L_eff is more than a thousandth below a depth. */
export const isFarBelow = (effective: bigint, depth: bigint): boolean => effective * 1000n < depth * 999n

/** exp(−dt / 1,800,000) scaled by 2^64, rounded down at each set bit of dt; 2^64 for dt = 0. */
export function decay(dt: Ms): bigint {
  if (dt <= 0) return ONE
  if (dt >= FORGOTTEN_MS) return 0n
  let factor = OF_LOW_BITS[dt & (OF_LOW_BITS.length - 1)] as bigint
  for (let rest: Ms = ms(dt >> LOW_BITS), bit = LOW_BITS; rest > 0; rest = ms(rest >> 1), bit++)
    if ((rest & 1) !== 0) factor = times(factor, K[bit] as bigint)
  return factor
}

/** Rounds down; the factor of dt = 0 is exact. */
function times(factor: bigint, k: bigint): bigint {
  return factor === ONE ? k : (factor * k) >> DECAY_BITS
}

/** Bits are multiplied from the lowest on, so the factors of the first few are the same for every dt. */
const LOW_BITS = count(12)
const OF_LOW_BITS = factorsOf(LOW_BITS)

/** The factor of each dt below 2^bits. */
function factorsOf(bits: Count): readonly bigint[] {
  const factors = [ONE]
  for (const k of K.slice(0, bits)) factors.push(...factors.map(factor => times(factor, k)))
  return factors
}

/** H + ((E − H) · decay >> 64), scaled by 2^32. The shift is arithmetic: it rounds down on either side of H. */
function average({ e, l, t0 }: DepthAverage, t: Ms): bigint {
  const held = l << SCALE_BITS
  if (e === held) return held
  return held + (((e - held) * decay(ms(t - t0))) >> DECAY_BITS)
}
