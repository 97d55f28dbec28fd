/**
 * An engine under load: a synthetic market, an engine that knows it, and the blocks that go on from there.
 *
 * Blocks are made before they are timed, a portion at a time, so that a long run holds few of them; only the
 * engine's own steps are on the clock.
 */
import { createState } from '../packages/engine/createState.ts'
import { step } from '../packages/engine/engine.ts'
import type { Input } from '../packages/engine/input.ts'
import type { State } from '../packages/engine/state.ts'
import { bringUp } from '../packages/world/market/bringUp.ts'
import { createMarket, type Market, type MarketOptions } from '../packages/world/market/market.ts'
import { finality, Tape, type TapeOptions } from '../packages/world/market/tape.ts'

export type BlockInput = Extract<Input, { kind: 'block' }>

/** Blocks between two finalizations, and from a block to the one that is final when it comes. */
const FINALITY_EVERY = 32
const FINALITY_DEPTH = 16

/** A chain of today with short blocks. */
export const CHAIN = { chainId: 56, blockMs: 450 } as const

export type Steps = {
  readonly ns: number[]
  /** Processor time of the whole process, collector's helpers included. */
  cpuNs: number
  records: number
  swaps: number
}

export const noSteps = (): Steps => ({ ns: [], cpuNs: 0, records: 0, swaps: 0 })

/** A market and its next inputs: blocks, and what is final every so often. */
export class Load {
  readonly market: Market
  readonly #blocks: Generator<BlockInput, never>
  readonly #recent: BlockInput[] = []

  constructor(market: Market, tape: TapeOptions) {
    this.market = market
    this.#blocks = new Tape(market, tape).inputs()
  }

  /** The inputs of the next so many blocks. */
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

/** An engine that has been told of everything in the market. */
export function engineFor(market: Market): State {
  const state = createState(market.setup)
  for (const input of bringUp(market)) step(state, input)
  return state
}

/** Runs the inputs and adds what they took to `into`. */
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

/** What must hold of any engine that followed a market: every event recomputed. */
export function assertVerified(state: State): void {
  for (const pool of state.pools.values())
    if (!pool.state.verified || pool.state.incomplete) throw new Error(`pool ${pool.address} does not verify`)
}

/** Tokens with a price now. */
export function pricedTokens(state: State): number {
  let priced = 0
  for (const token of state.tokens.values()) if (token.published?.compact.state === 'PRICED') priced++
  return priced
}
