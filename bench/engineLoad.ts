/**
 * An engine under load: a synthetic market, an engine that knows it, and the following blocks.
 *
 * Blocks are built before they are timed, a portion at a time, so that a long run holds few of them; only the
 * engine's own steps are timed.
 */
import { createState } from '../packages/engine/createState.ts'
import { step } from '../packages/engine/engine.ts'
import type { Input } from '../packages/engine/input.ts'
import type { State } from '../packages/engine/state.ts'
import { bringUp } from '../packages/world/market/bringUp.ts'
import { createMarket, type Market, type MarketOptions } from '../packages/world/market/market.ts'
import { finality, Tape, type TapeOptions } from '../packages/world/market/tape.ts'

export type BlockInput = Extract<Input, { kind: 'block' }>

/** Blocks between two finalizations, and from a block to the one that is final when it arrives. */
const FINALITY_EVERY = 32
const FINALITY_DEPTH = 16

/** A present-day chain with short blocks. */
export const CHAIN = { chainId: 56, blockMs: 450 } as const

export type Steps = {
  readonly ns: number[]
  /** Processor time of the whole process, including the collector's helper threads. */
  cpuNs: number
  records: number
  swaps: number
}

export const noSteps = (): Steps => ({ ns: [], cpuNs: 0, records: 0, swaps: 0 })

/** A market and its next inputs: blocks, and finality at intervals. */
export class Load {
  readonly market: Market
  readonly #blocks: Generator<BlockInput, never>
  readonly #recent: BlockInput[] = []

  constructor(market: Market, tape: TapeOptions) {
    this.market = market
    this.#blocks = new Tape(market, tape).inputs()
  }

  /** The inputs of the next `blocks` blocks. */
  next(blocks: number): Input[] {
    const inputs: Input[] = []
    for (let made = 0; made < blocks; made++) {
      const input = this.#blocks.next().value
      inputs.push(input)
      this.#recent.push(input)
      const final = this.#recent.at(-1 - FINALITY_DEPTH)
      if (input.block.number % FINALITY_EVERY === 0 && final !== undefined)
        inputs.push(finality(final.block, input.atMs))
      if (this.#recent.length > FINALITY_EVERY) this.#recent.shift()
    }
    return inputs
  }
}

export function newMarket(options: Omit<MarketOptions, 'seed'>): Market {
  return createMarket({ seed: 20_240_901, ...CHAIN, ...options })
}

/** An engine that has received everything in the market. */
export function engineFor(market: Market): State {
  const state = createState(market.setup)
  for (const input of bringUp(market)) step(state, input)
  return state
}

/** Runs the inputs and adds their time to `into`. */
export function runSteps(state: State, inputs: readonly Input[], into: Steps): void {
  const cpuBefore = process.cpuUsage()
  for (const input of inputs) {
    const start = process.hrtime.bigint()
    const { records } = step(state, input)
    into.ns.push(Number(process.hrtime.bigint() - start))
    into.records += records.length
    for (const record of records) if (record.type === 'SWAP_OBSERVED') into.swaps++
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  into.cpuNs += (user + system) * 1_000
}

/** A condition for any engine that followed a market: every event recomputed. */
export function assertVerified(state: State): void {
  for (const pool of state.pools.values())
    if (!pool.state.verified || pool.state.incomplete) throw new Error(`pool ${pool.address} does not verify`)
}

/** The number of tokens with a price now. */
export function pricedTokens(state: State): number {
  let priced = 0
  for (const token of state.tokens.values()) if (token.published?.compact.state === 'PRICED') priced++
  return priced
}
