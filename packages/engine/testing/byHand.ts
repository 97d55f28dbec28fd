/**
 * The rules worked out the slow way, from their sentences in the specification and the contract: what the
 * tests compare the engine with. Nothing here uses the engine's arithmetic.
 */

export type Rational = { readonly num: bigint; readonly den: bigint }
/** The share n/d of the input that trades. */
export type Fee = readonly [bigint, bigint]

export const FEE: Fee = [997n, 1000n]
const MAX_RESERVE = 2n ** 112n - 1n

/** out(a) = ⌊a·n·O / (I·d + a·n)⌋ */
export const v2Out = (reserveIn: bigint, reserveOut: bigint, input: bigint, [n, d]: Fee = FEE): bigint =>
  (input * n * reserveOut) / (reserveIn * d + input * n)

/** The greatest gross X after which Y/X is still at least 98/100 of what it was. */
export const v2Down = (x: bigint, y: bigint, fee: Fee = FEE): bigint =>
  greatest(MAX_RESERVE - x, input => (y - v2Out(x, y, input, fee)) * x * 100n >= y * (x + input) * 98n)

/** The greatest gross Y after which Y/X is still at most 102/100 of what it was. */
export const v2Up = (x: bigint, y: bigint, fee: Fee = FEE): bigint =>
  greatest(MAX_RESERVE - y, input => (y + input) * x * 100n <= y * (x - v2Out(y, x, input, fee)) * 102n)

/** L_Y = min(D_up, ⌊D_down × Y/X⌋). */
export const v2DepthY = (x: bigint, y: bigint, fee: Fee = FEE): bigint =>
  least(v2Up(x, y, fee), (v2Down(x, y, fee) * y) / x)

/** The smallest gross X of at least D_down/1000 and 1 unit whose output is at least 10,000 units. */
export function v2Reference(x: bigint, y: bigint, fee: Fee = FEE): bigint {
  const floor = most(divideUp(v2Down(x, y, fee), 1000n), 1n)
  return smallest(floor, input => v2Out(x, y, input, fee) >= 10_000n)
}

/** The sale of the reference input on these reserves. */
export function v2Sale(x: bigint, y: bigint, fee: Fee = FEE) {
  const input = v2Reference(x, y, fee)
  return { input, output: v2Out(x, y, input, fee) }
}

/** q(X→Y) = (a × 10^dX) / (b × 10^dY). */
export const hopRatio = (a: bigint, b: bigint, decimalsX: number, decimalsY: number): Rational =>
  reduced(a * 10n ** BigInt(decimalsX), b * 10n ** BigInt(decimalsY))

/** ⌊amount of Y × price⌋ in microdollars. */
export const microusd = (amountY: bigint, decimalsY: number, usd: Rational): bigint =>
  (amountY * usd.num * 1_000_000n) / (usd.den * 10n ** BigInt(decimalsY))

export const times = (...factors: readonly Rational[]): Rational =>
  reduced(
    factors.reduce((product, { num }) => product * num, 1n),
    factors.reduce((product, { den }) => product * den, 1n),
  )

export function reduced(num: bigint, den: bigint): Rational {
  const divisor = gcd(num, den)
  return { num: num / divisor, den: den / divisor }
}

export function gcd(a: bigint, b: bigint): bigint {
  let [greater, lesser] = [a, b]
  while (lesser !== 0n) [greater, lesser] = [lesser, greater % lesser]
  return greater
}

/** −1, 0 or 1. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.num * b.den - b.num * a.den
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

/** dev_bps(p, q) = 10000 × (max(p/q, q/p) − 1). */
export function devBps(p: Rational, q: Rational): Rational {
  const [up, down] = [p.num * q.den, q.num * p.den]
  return up >= down ? { num: 10_000n * (up - down), den: down } : { num: 10_000n * (down - up), den: up }
}

/**
 * The average of depth at `dtMs` after it was `e`/2^32 and became `l`: H + ((E − H)·decay(dt) >> 64), with
 * decay the fold over the set bits i of dt of K[i] = ⌊2^64·exp(−2^i/1,800,000)⌋.
 */
export function averageAfter(e: bigint, l: bigint, dtMs: number): bigint {
  const held = l << 32n
  return held + (((e - held) * decay(dtMs)) >> 64n)
}

function decay(dtMs: number): bigint {
  if (dtMs >= 2 ** 26) return 0n
  let factor = 1n << 64n
  for (let bit = 0; 2 ** bit <= dtMs; bit++)
    if (((dtMs >> bit) & 1) === 1) factor = (factor * kappa(bit)) >> 64n
  return factor
}

const kappas = new Map<number, bigint>()

/** ⌊2^64·exp(−2^i/1,800,000)⌋ by the series of exp with 400 bits to spare. */
function kappa(bit: number): bigint {
  const known = kappas.get(bit)
  if (known !== undefined) return known
  const one = 1n << 464n
  let term = one
  let sum = one
  for (let n = 1n; term !== 0n; n++) {
    term = (term << BigInt(bit)) / (1_800_000n * n)
    sum += term
  }
  const value = (one << 64n) / sum
  kappas.set(bit, value)
  return value
}

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
export const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/** The greatest n from 0 to `limit` that is inside; whatever is below an inside one is inside too. */
export function greatest(limit: bigint, isInside: (n: bigint) => boolean): bigint {
  let [inside, outside] = [0n, 1n]
  while (outside <= limit && isInside(outside)) [inside, outside] = [outside, outside * 2n]
  if (outside > limit) outside = limit + 1n
  while (outside - inside > 1n) {
    const middle = (inside + outside) / 2n
    if (isInside(middle)) inside = middle
    else outside = middle
  }
  return inside
}

/** The smallest n from `from` on that is enough; whatever is above one that is enough is enough too. */
export function smallest(from: bigint, isEnough: (n: bigint) => boolean): bigint {
  if (isEnough(from)) return from
  let step = 1n
  while (!isEnough(from + step)) step *= 2n
  return from + greatest(step, n => !isEnough(from + n)) + 1n
}

/** A v3 pool with one liquidity L around its price, as long as a swap stays inside its range and its word. */
type V3Flat = { readonly sqrtPriceX96: bigint; readonly liquidity: bigint; readonly feePpm: bigint }

const Q96 = 2n ** 96n
const PPM = 1_000_000n

/** What ⌊a × (1 − fee)⌋ of token `side` brings: the pool's own roundings, always in its favour. */
export function v3Out({ sqrtPriceX96: p, liquidity: l, feePpm }: V3Flat, side: 0 | 1, input: bigint): bigint {
  const trading = (input * (PPM - feePpm)) / PPM
  if (side === 0) return (l * (p - divideUp(l * Q96 * p, l * Q96 + trading * p))) / Q96
  const next = p + (trading * Q96) / l
  return (l * Q96 * (next - p)) / next / p
}

/** Gross token0 that lowers the price to r or just above: the limit is the smallest root inside. */
export function v3InputDown({ sqrtPriceX96: p, liquidity: l, feePpm }: V3Flat, r: Rational): bigint {
  const limit = smallest(0n, root => root * root * r.den >= p * p * r.num)
  return gross(divideUp(divideUp(l * Q96 * (p - limit), p), limit), feePpm)
}

/** Gross token1 that raises the price to r or just below. */
export function v3InputUp({ sqrtPriceX96: p, liquidity: l, feePpm }: V3Flat, r: Rational): bigint {
  const limit = greatest(p * 2n, root => root * root * r.den <= p * p * r.num)
  return gross(divideUp(l * (limit - p), Q96), feePpm)
}

const gross = (net: bigint, feePpm: bigint): bigint => net + divideUp(net * feePpm, PPM - feePpm)
