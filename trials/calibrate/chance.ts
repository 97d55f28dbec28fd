/**
 * Seeded draws of the calibration market. It is a test market, so it may use floating point; the same seed gives the
 * same market on every machine with the same JavaScript engine.
 */
import { seeded } from '../../packages/engine/testing/randomMarket.ts'

/** Distinct streams of one seed: the draws of one part of the market do not shift those of another. */
const STREAM_STEP = 0x9e3779b1

const RESOLUTION = 2 ** 30

export class Chance {
  readonly #seed: number
  readonly #random: ReturnType<typeof seeded>

  constructor(seed: number, stream = 0) {
    this.#seed = seed
    this.#random = seeded((Math.imul(seed, 0x85ebca6b) ^ Math.imul(stream, STREAM_STEP)) >>> 0)
  }

  stream(n: number): Chance {
    return new Chance(this.#seed, n)
  }

  /** Above 0, below 1. */
  unit(): number {
    return (this.#random.below(RESOLUTION) + 0.5) / RESOLUTION
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.unit()
  }

  /** Evenly spread over orders of magnitude. */
  spread(least: number, most: number): number {
    return Math.exp(this.between(Math.log(least), Math.log(most)))
  }

  /** Standard normal, by Box and Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(this.unit())) * Math.cos(2 * Math.PI * this.unit())
  }

  is(probability: number): boolean {
    return this.unit() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    return this.#random.pick(items)
  }

  below(n: number): number {
    return this.#random.below(n)
  }

  /** A Poisson count; only for small means. */
  count(mean: number): number {
    const limit = Math.exp(-mean)
    let count = 0
    for (let product = this.unit(); product > limit; product *= this.unit()) count++
    return count
  }
}
