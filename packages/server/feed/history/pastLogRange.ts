/**
 * How many blocks of logs an endpoint returns at once. The first request asks for the whole range; after a refusal we
 * use the length that the message names, or the next length common among providers. Halving would end below their
 * limits and cost twice the calls.
 */

/** Known range limits of providers, most common ones only. */
const USUAL = [10_000, 2000, 1000, 500, 100, 50, 10, 3, 1] as const
const LEAST_NAMED = 10

export class PastLogRange {
  #size = Number.MAX_SAFE_INTEGER

  get size(): number {
    return this.#size
  }

  /** A range of this many blocks was refused with this message. */
  refused(blocks: number, words: string | null): void {
    const named = (words?.replaceAll(/(?<=\d)[,_](?=\d{3})/g, '').match(/(?<![\w.])\d{1,6}(?![\w.])/g) ?? [])
      .map(Number)
      .filter(each => each >= LEAST_NAMED && each < blocks)
    const usual = USUAL.find(each => each < blocks) ?? 1
    // Several numbers in a refusal are rarely all limits: use the common length instead.
    this.#size = Math.min(this.#size, named.length === 1 ? (named[0] as number) : usual)
  }
}
