/**
 * How many blocks of logs an endpoint gives at once. All that is wanted is asked for; what is refused is tried at the length
 * that the refusal names, or at the next that is usual among providers: halving would end below their limits and cost twice
 * the calls.
 */

/** What providers are known to limit a range to, the most common ones. */
const USUAL = [10_000, 2000, 1000, 500, 100, 50, 10, 3, 1] as const
const LEAST_NAMED = 10

export class LogRange {
  #size = Number.MAX_SAFE_INTEGER

  get size(): number {
    return this.#size
  }

  /** A range of this many blocks was refused, in these words. */
  refused(blocks: number, words: string | null): void {
    const named = (words?.replaceAll(/(?<=\d)[,_](?=\d{3})/g, '').match(/(?<![\w.])\d{1,6}(?![\w.])/g) ?? [])
      .map(Number)
      .filter(each => each >= LEAST_NAMED && each < blocks)
    const usual = USUAL.find(each => each < blocks) ?? 1
    // Several numbers in a refusal are rarely limits alone: the usual length is tried instead.
    this.#size = Math.min(this.#size, named.length === 1 ? (named[0] as number) : usual)
  }
}
