/**
 * Seeded random choices. The same seed gives the same world and the same test, whatever the machine; nothing
 * here is for secrets.
 */

/** Small fast counter generator (sfc32); its state is four 32-bit words. */
export class Random {
  readonly seed: number
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, stream = '') {
    this.seed = seed
    this.#a = seed >>> 0
    this.#b = hash(stream)
    this.#c = 0x9e3779b9
    // The words start correlated with the seed; a dozen rounds mix them.
    for (let round = 0; round < 12; round++) this.uint32()
  }

  /** An independent stream: the draws of one part of a test do not shift those of another. */
  stream(name: string): Random {
    return new Random(this.seed, name)
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** An integer from `least` to `greatest`, both included. */
  integer(least: number, greatest: number): number {
    return Number(this.bigint(BigInt(least), BigInt(greatest)))
  }

  /** 64 spare bits keep the bias of the remainder below 2^-64. */
  bigint(least: bigint, greatest: bigint): bigint {
    const span = greatest - least + 1n
    let drawn = 0n
    for (let bits = span.toString(2).length + 64; bits > 0; bits -= 32) {
      drawn = (drawn << 32n) | BigInt(this.uint32())
    }
    return least + (drawn % span)
  }

  /** An integer with an evenly distributed size, not value: 1 and 2^100 are about equally likely. */
  magnitude(least: bigint, greatest: bigint): bigint {
    const low = least.toString(2).length
    const high = greatest.toString(2).length
    const size = BigInt(this.integer(low, high))
    const drawn = this.bigint(1n << (size - 1n), (1n << size) - 1n)
    return drawn < least ? least : drawn > greatest ? greatest : drawn
  }

  /** True in `of` of `outOf` cases. */
  chance(of: number, outOf: number): boolean {
    return this.uint32() % outOf < of
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[this.uint32() % choices.length]
    if (chosen === undefined) throw new RangeError('a pick needs at least one choice')
    return chosen
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let word = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    word = Math.imul(word ^ text.charCodeAt(index), 0x01000193)
  }
  return word >>> 0
}
