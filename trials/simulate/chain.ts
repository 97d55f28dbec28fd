/**
 * A simulated chain: the tree of its blocks, its true branch, and the contents of every pool at each block. This is
 * the ground truth; a service that followed the chain ends with the same pools.
 */
import type { AmmState } from '../../packages/engine/amm/families.ts'
import type { Block } from '../../packages/engine/chain/block.ts'
import { TICK_FAMILIES } from '../../packages/engine/testing/tickFamilies.ts'
import { type Address, type Hex, ms } from '../../packages/engine/index.ts'
import { ChainSim } from '../../packages/engine/testing/chainSim.ts'
import {
  BORN_LATER,
  POOLS,
  type PoolSpec,
  type Random,
  seedPool,
} from '../../packages/engine/testing/randomMarket.ts'
import type { Tempo } from './tempo.ts'
import { type Positions, trade } from './trades.ts'

/** A block and the world after it. */
export type Link = {
  readonly block: Block
  readonly sim: ChainSim
  readonly pools: readonly PoolSpec[]
  readonly positions: Positions
  readonly bornLater: number
}

/** Blocks this far below the tip are never orphaned. */
const FINAL_BLOCKS = 24
/** Blocks kept: a service that was down for an hour finds its own. */
const KEPT_BLOCKS = 400
/** The chance of trades in a block of a quiet period. */
const QUIET_TRADE_CHANCE = 0.1
/** A pool that is born later waits for its turn, several blocks apart. */
const BIRTH_CHANCE = 0.02

export class SimChain {
  readonly chainId: number
  readonly #random: Random
  readonly #tempo: Tempo
  readonly #links = new Map<Hex, Link>()
  /** From the oldest kept block to the tip. */
  readonly #path: Link[] = []
  readonly #origins = new Map<Address, AmmState>()
  readonly #listeners = new Set<() => void>()
  #branches = 0
  #first = 0
  reorgs = 0
  blocks = 0

  constructor(chainId: number, random: Random, tempo: Tempo, startMs: number) {
    this.chainId = chainId
    this.#random = random
    this.#tempo = tempo
    const sim = new ChainSim({ startMs, blockMs: 12_000 })
    const pools: PoolSpec[] = []
    for (const spec of POOLS) seedPool(random, sim, pools, spec, TICK_FAMILIES)
    for (const { address } of pools) this.#origins.set(address, sim.amm(address))
    // As if it had existed for long: a service reads it at the first block it sees.
    sim.forget()
    this.#grow(sim, pools, new Map(), 0, startMs + 1000)
  }

  get tip(): Link {
    return this.#path.at(-1) as Link
  }

  get finalized(): Link | null {
    return this.#path.at(-1 - FINAL_BLOCKS) ?? null
  }

  /** The block of this hash, on any branch, unless it was dropped long ago. */
  at(hash: Hex): Link | null {
    return this.#links.get(hash) ?? null
  }

  isTrue(hash: Hex): boolean {
    return this.#indexOf(hash) >= 0
  }

  /** The blocks after a true block, up to the tip. */
  after(hash: Hex): readonly Link[] {
    return this.#path.slice(this.#indexOf(hash) + 1)
  }

  /** Its index on the true branch; -1 when it is not on it. */
  #indexOf(hash: Hex): number {
    const number = this.#links.get(hash)?.block.number ?? -1
    const at = number - (this.#path[0] as Link).block.number
    return this.#path[at]?.block.hash === hash ? at : -1
  }

  /** A feed begins at the tip: it refuses reorganisations deeper than its known blocks. */
  begin(): Link {
    this.#first = this.tip.block.number
    return this.tip
  }

  /** A feed knows nothing below this block except its predecessor, which therefore stays. */
  beginAfterGap(before: number): void {
    this.#first = before + 1
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  mine(nowMs: number): void {
    this.#extend(this.tip, nowMs)
    this.#changed()
  }

  /** Another branch becomes the true one, at least as long as the branch it replaces. */
  reorganise(depth: number, nowMs: number): void {
    const undoable = this.tip.block.number - this.#first + 1
    const most = Math.min(depth, FINAL_BLOCKS - 1, this.#path.length - 1, undoable)
    if (most < 1) return this.mine(nowMs)
    const lost = this.#path.splice(this.#path.length - most)
    const length = lost.length + this.#random.below(2)
    const { timeMs } = this.tip.block
    const branch = `b${++this.#branches}-`
    for (let n = 1; n <= length; n++)
      this.#extend(this.tip, timeMs + Math.floor(((nowMs - timeMs) * n) / length), branch)
    this.reorgs += 1
    this.#changed()
  }

  #extend(parent: Link, timeMs: number, branch?: string): void {
    const sim = parent.sim.fork(branch ?? `a${this.#branches}-`)
    const pools = [...parent.pools]
    let { bornLater } = parent
    const isActive = this.#tempo.isStormy || this.#random.chance(QUIET_TRADE_CHANCE)
    const positions = isActive
      ? trade(this.#random, sim, pools, this.#origins, parent.positions)
      : parent.positions
    const born = BORN_LATER[bornLater]
    if (born !== undefined && this.#random.chance(BIRTH_CHANCE)) {
      bornLater += 1
      seedPool(this.#random, sim, pools, born, TICK_FAMILIES)
      for (const { address } of pools.slice(-1)) this.#origins.set(address, sim.amm(address))
    }
    this.#grow(sim, pools, positions, bornLater, timeMs)
  }

  #grow(
    sim: ChainSim,
    pools: readonly PoolSpec[],
    positions: Positions,
    bornLater: number,
    timeMs: number,
  ): void {
    const afterMs = Math.max(1, timeMs - sim.timeMs)
    const block = sim.mine({ proof: this.#random.chance(0.9) ? 'receipts' : 'none', afterMs: ms(afterMs) })
    const link = { block, sim, pools, positions, bornLater }
    this.#links.set(block.hash, link)
    this.#path.push(link)
    this.blocks += 1
    if (this.#path.length > KEPT_BLOCKS) this.#path.shift()
    const [oldest] = this.#links.keys()
    if (this.#links.size > KEPT_BLOCKS * 2 && oldest !== undefined) this.#links.delete(oldest)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
