/**
 * The answers of the stables' feeds on a simulated chain. In a storm every reading gives another answer; in a quiet
 * period a round lasts for minutes, as real ones do.
 */
import { type BlockRef, type Input, ms } from '../../packages/engine/index.ts'
import { stableReading } from '../../packages/engine/testing/randomLife.ts'
import { type Random } from '../../packages/engine/testing/randomMarket.ts'
import type { Tempo } from './tempo.ts'
import type { VirtualTime } from './virtualTime.ts'

/** Mostly below the shorter heartbeat of the two. */
const LONGEST_ROUND_MS = 70 * 60_000

type Reading = Pick<Extract<Input, { kind: 'stable' }>, 'answers' | 'sequencer'>

export class Oracle {
  readonly #time: VirtualTime
  readonly #tempo: Tempo
  readonly #random: Random
  #round: { readonly reading: Reading; readonly untilMs: number } | null = null

  constructor(time: VirtualTime, tempo: Tempo, random: Random) {
    this.#time = time
    this.#tempo = tempo
    this.#random = random
  }

  at(block: BlockRef): Reading {
    const { nowMs } = this.#time
    if (this.#round === null || this.#tempo.isStormy || nowMs >= this.#round.untilMs) {
      const { answers, sequencer } = stableReading(this.#random, ms(nowMs), block)
      const untilMs = nowMs + this.#random.below(LONGEST_ROUND_MS)
      this.#round = { reading: { answers, sequencer }, untilMs }
    }
    return this.#round.reading
  }
}
