/**
 * A copy of the part of the state that a token's price depends on, to try swaps and hold times on. The live code
 * folds and evaluates it, so its result for a plan is what the service would publish. Law: nothing done here affects
 * the original state, and after an attempt the copy is as it was before.
 */
import type { Address, Block, Hex } from '../chain/block.ts'
import { applyBlock } from '../chain/blocks.ts'
import { undoTo } from '../chain/undo.ts'
import { assert } from '../assert.ts'
import type { Pool } from '../entities.ts'
import { evaluate, valueAssets } from '../price/evaluate.ts'
import type { Policy } from '../policy/policy.ts'
import type { Evaluation } from '../price/evaluation.ts'
import type { Moment } from '../price/moment.ts'
import { momentOf } from '../price/momentOf.ts'
import type { ChainPosition, State } from '../state.ts'
import { type Count, count, type Ms, ms, soonest } from '../units.ts'
import { newWork } from '../work.ts'
import { anchorsOf, copyAround } from './copy.ts'
import { logsOf, type Push } from './push.ts'

/** The published state at a time, and when it may change if nothing happens. */
export type Look = {
  readonly moment: Moment
  readonly evaluation: Evaluation
  readonly dueMs: Ms | null
}

/** Block timestamps are whole seconds. */
const SECOND_MS = 1000

export class Rehearsal {
  readonly token: Address
  /** The time of the pushes: the next block. */
  readonly startMs: Ms
  readonly blockMs: Ms
  readonly #state: State
  readonly #isProven: boolean
  readonly #anchors: ReadonlySet<Address>
  /** The values of the assets at a block and a time while none of their pools is pushed. */
  readonly #valuations = new Map<string, Moment['valuations']>()
  #isAnchorPushed = false
  #looks = 0

  constructor(real: State, token: Address, atMs: Ms) {
    const { tip } = real.chain
    assert(tip !== null, 'a rehearsal needs a block to continue from')
    this.token = token
    this.#state = copyAround(real, token)
    this.#isProven = real.chain.proven.at(-1)?.last === tip.number
    this.#anchors = new Set(anchorsOf(real))
    this.blockMs = wholeSeconds(real.setup.blockTimeMs)
    this.startMs = ms(Math.max(tip.timeMs + this.blockMs, wholeSeconds(atMs)))
  }

  /** Evaluations made so far, as a measure of work. */
  get looks(): Count {
    return count(this.#looks)
  }

  get policy(): Policy {
    return this.#state.policyView.policy
  }

  /** The state before any push. */
  look(atMs: Ms): Look {
    this.#looks++
    const moment = momentOf(this.#state, atMs)
    this.#valueAssets(moment)
    const { valuations } = moment
    const evaluation = valuations.get(this.token)?.evaluation ?? evaluate(moment, this.token)
    let { dueMs } = evaluation
    for (const each of valuations.values()) dueMs = soonest(dueMs, each.evaluation.dueMs)
    return { moment, evaluation, dueMs }
  }

  /** Makes the pushes in the next block, then returns what `held` finds while nobody trades back. */
  attempt<Found>(pushes: readonly Push[], held: () => Found): Found {
    return this.#undone(() => {
      this.#mine(pushes, this.startMs)
      return held()
    })
  }

  /** The state this long after the pushes, on a chain that continues without them. Only within an attempt. */
  lookAfter(forMs: Ms): Look {
    const before = this.#state.chain
    this.#state.chain = this.#goneOn(before, forMs)
    const look = this.look(ms(this.startMs + forMs))
    this.#state.chain = before
    return look
  }

  /** Adds another block of swaps, one block time later. Only within an attempt. */
  next(pushes: readonly Push[]): Ms {
    const timeMs = ms((this.#state.chain.tip?.timeMs ?? 0) + this.blockMs)
    this.#mine(pushes, timeMs)
    return timeMs
  }

  /** The copy of a pool, in its present state. */
  pool({ address }: Pick<Pool, 'address'>): Pool {
    const pool = this.#state.pools.get(address)
    assert(pool !== undefined, () => `${address} is not in the rehearsal`)
    return pool
  }

  /**
   * Most attempts push no pool of an asset, and then every asset has the value that the passing of time gives it. That
   * is a third of an answer's work.
   */
  #valueAssets(moment: Moment): void {
    if (this.#isAnchorPushed) return valueAssets(moment)
    const at = `${moment.state.chain.tip?.number} ${moment.atMs}`
    const known = this.#valuations.get(at)
    if (known === undefined) {
      valueAssets(moment)
      this.#valuations.set(at, moment.valuations)
    } else for (const [asset, valuation] of known) moment.valuations.set(asset, valuation)
  }

  #undone<Found>(task: () => Found): Found {
    const before = this.#state.chain
    const found = task()
    this.#isAnchorPushed = false
    undoTo(this.#state, before.tip?.hash as Hex, () => undefined)
    this.#state.chain = before
    return found
  }

  #mine(pushes: readonly Push[], timeMs: Ms): void {
    const tip = this.#state.chain.tip as NonNullable<ChainPosition['tip']>
    const number = count(tip.number + 1)
    const hash = hashOf(number)
    for (const { pool } of pushes)
      if (this.#anchors.has(pool.token0) && this.#anchors.has(pool.token1)) this.#isAnchorPushed = true
    const block: Block = {
      number,
      hash,
      timeMs,
      parentHash: tip.hash,
      proof: this.#isProven ? 'receipts' : 'none',
      events: logsOf(pushes, hash),
    }
    applyBlock(this.#state, block, newWork())
  }

  /** Adds empty blocks, proven like those before. */
  #goneOn(chain: ChainPosition, forMs: Ms): ChainPosition {
    const { tip, proven } = chain
    const blocks = Math.floor(forMs / this.blockMs)
    if (tip === null || blocks === 0) return chain
    const last = count(tip.number + blocks)
    const lastMs = ms(tip.timeMs + blocks * this.blockMs)
    const next = { ...chain, tip: { number: last, hash: hashOf(last), timeMs: lastMs } }
    const run = proven.at(-1)
    if (run?.last !== tip.number) return next
    return { ...next, proven: [...proven.slice(0, -1), { ...run, last, lastMs }] }
  }
}

const wholeSeconds = (time: Ms): Ms => ms(Math.ceil(time / SECOND_MS) * SECOND_MS)

/** Hashes of simulated blocks. */
const hashOf = (number: Count): Hex => `0x${number.toString(16).padStart(64, 'e')}`
