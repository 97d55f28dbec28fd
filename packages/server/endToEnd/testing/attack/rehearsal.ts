/** An attack played through without a chain: which tokens it needs, and how many seconds it takes until its last look. */
import type { PoolFamily, PoolSpec, Position, Stage, TokenOptions } from '@assay/world'

/** Pools that were there before are this old, and were traded in half of it ago: more than a look-back covers. */
export const AGE_S = 2400

/** Seconds between two blocks. */
export const BLOCK_S = 12

export class Rehearsal implements Stage {
  readonly tokens = new Map<string, TokenOptions>()
  /** Tokens that change what they say of themselves. */
  readonly changing = new Set<string>()
  /** Of its pools. */
  readonly families = new Set<PoolFamily>()
  /** Until the last look. */
  spanS = 0
  blocks = 0
  looks = 0
  #passedS = 0
  #isAged = true

  token(name: string, options: TokenOptions = {}): void {
    this.tokens.set(name, options)
  }
  async pool(_: string, { isNew = false, family = 'v2' }: PoolSpec): Promise<void> {
    this.families.add(family)
    if (!isNew) this.#isAged = false
  }
  async anchors(): Promise<void> {
    this.#isAged = false
  }
  async impostors(): Promise<void> {}
  async ask(): Promise<void> {
    this.#age()
  }
  add(pool: string): Position {
    return { pool, name: 0 }
  }
  remove(): void {}
  drain(): void {}
  push(): void {}
  buy(): void {}
  sell(): void {}
  donate(): void {}
  seller(): void {}
  worth(): void {}
  async block(afterS = BLOCK_S): Promise<void> {
    this.#age()
    this.#passedS += afterS
    this.blocks++
  }
  async quiet(forS: number, everyS = 60): Promise<void> {
    this.#age()
    this.#passedS += forS
    this.blocks += Math.ceil(forS / everyS)
  }
  async rounds(times: number, round: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; n < times; n++) await round(n)
  }
  async wait(forS: number): Promise<void> {
    this.#passedS += forS
  }
  mark(): void {}
  async orphan(): Promise<void> {}
  async feed(): Promise<void> {}
  async decimals(token: string): Promise<void> {
    this.changing.add(token)
  }
  async health(): Promise<void> {}
  watch(): void {}
  async look(): Promise<void> {
    this.spanS = this.#passedS
    this.looks++
  }

  #age(): void {
    if (!this.#isAged) this.#passedS += AGE_S
    this.#isAged = true
  }
}
