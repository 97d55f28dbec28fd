/**
 * Draws from the distributions of a market, as plain floats.
 *
 * Only randomness, never money: a drawn value becomes a bigint before it enters a pool. V8 computes exp, log and cos
 * with its own port of fdlibm, so a seed gives the same draws on every machine.
 */
import type { Random } from '../random.ts'
import type { Weighted } from './shape.ts'

/** From 0 up to but not including 1. */
export const uniform = (random: Random): number => random.uint32() / 2 ** 32

export const isWithin = (random: Random, share: number): boolean => uniform(random) < share

/** An integer from 0 to `size` - 1. */
export const below = (random: Random, size: number): number => Math.floor(uniform(random) * size)

/** Box–Muller. The second value is discarded, so that a draw does not depend on the number of earlier ones. */
export function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(random)))
  return radius * Math.cos(2 * Math.PI * uniform(random))
}

export const logNormal = (random: Random, median: number, deviation: number): number =>
  median * Math.exp(deviation * normal(random))

/** Values between 1 and 2 are as likely as between 1,000 and 2,000. */
export const logUniform = (random: Random, least: number, greatest: number): number =>
  least * Math.exp(uniform(random) * Math.log(greatest / least))

/** From a table of `[quantile, value]`, log-linear in between. */
export function quantile(random: Random, table: readonly (readonly [number, number])[]): number {
  const at = uniform(random)
  const above = table.findIndex(([share]) => share > at)
  const [low, from] = table[above - 1] as readonly [number, number]
  const [high, to] = table[above] as readonly [number, number]
  return from * Math.exp(((at - low) / (high - low)) * Math.log(to / from))
}

export function weighted<Value>(random: Random, choices: Weighted<Value>): Value {
  let left = uniform(random) * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [value, weight] of choices) {
    left -= weight
    if (left < 0) return value
  }
  throw new RangeError('a weighted draw needs at least one choice')
}

/** Ranks 0 to `size` - 1, rank r with a frequency proportional to (r + offset)^-exponent. */
export class Zipf {
  readonly #cumulative: Float64Array

  constructor(size: number, exponent: number, offset = 1) {
    if (size < 1) throw new RangeError(`Zipf over ${size} ranks`)
    this.#cumulative = new Float64Array(size)
    let sum = 0
    for (let rank = 0; rank < size; rank++) {
      sum += (rank + offset) ** -exponent
      this.#cumulative[rank] = sum
    }
  }

  draw(random: Random): number {
    const cumulative = this.#cumulative
    const target = uniform(random) * (cumulative.at(-1) as number)
    let low = 0
    let high = cumulative.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] as number) > target) high = middle
      else low = middle + 1
    }
    return low
  }
}
