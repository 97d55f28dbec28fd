/**
 * The last blocks of our chain, with the events of pools that are being read at one of them. They show whether a
 * reading that took some blocks still belongs to our chain, and bring a pool read earlier forward to the tip. They
 * change in the same turn as the engine's own position.
 */
import { count, type Family, type Input, type NewPool, type PastBlock, type State } from '@assay/engine'
import type { TickSpan } from '../market/market.ts'
import { spansOf } from '../market/pastWindow.ts'
import type { Address, Hex } from '../ops/hex.ts'

type Block = Extract<Input, { kind: 'block' }>['block']
type Recent = PastBlock & {
  readonly parentHash: Hex
  /** Price ranges of pools that moved far in this block. */
  readonly swings: ReadonlyMap<Address, TickSpan>
}

/** More than four minutes of the fastest chain: no reading takes that long. */
const MOST = 1024
/** Every reading of a pool covers this many ticks on each side of its price. */
const SWING = 2000
const NONE: Recent['swings'] = new Map()

export class RecentBlocks {
  readonly #state: State
  /** Oldest first; each block is the parent of the next. */
  #blocks: Recent[]
  /** For each pool, the number of readings that need its events. */
  readonly #watched = new Map<Address, { readonly family: Family; readonly readings: number }>()

  constructor(state: State) {
    this.#state = state
    this.#blocks = state.journals.map(({ block, parentHash }) => ({
      ...block,
      parentHash,
      events: [],
      swings: NONE,
    }))
  }

  append(block: Block): void {
    const { number, hash, parentHash, timeMs } = block
    if (this.#blocks.at(-1)?.hash !== parentHash) this.#blocks = []
    const events = block.events.filter(({ pool }) => this.#watched.has(pool))
    this.#blocks.push({ number, hash, parentHash, timeMs, events, swings: swingsOf(block) })
    if (this.#blocks.length > MOST) this.#blocks.shift()
  }

  /** Blocks below this one are unknown. */
  restart({
    number,
    ...rest
  }: Omit<Recent, 'events' | 'number' | 'swings'> & { readonly number: number }): void {
    const { hash, parentHash, timeMs } = rest
    this.#blocks = [{ number: count(number), hash, parentHash, timeMs, events: [], swings: NONE }]
  }

  /** Replaces everything above the ancestor with these blocks. */
  replace(ancestor: Hex, blocks: readonly Block[]): void {
    this.#blocks = this.#blocks.slice(0, 1 + this.#blocks.findLastIndex(({ hash }) => hash === ancestor))
    for (const block of blocks) this.append(block)
  }

  /** The blocks above this one; null when it is not on our chain, or too far back. */
  since(hash: Hex): readonly PastBlock[] | null {
    if (this.#state.chain.tip?.hash === hash) return []
    const at = this.#blocks.findLastIndex(each => each.hash === hash)
    return at < 0 ? null : this.#blocks.slice(at + 1)
  }

  /** Undefined when the block is not among the last ones. */
  parentOf(hash: Hex): Hex | undefined {
    return this.#blocks.findLast(each => each.hash === hash)?.parentHash
  }

  /**
   * The price range over which the pool moved far within a block. A reading that covers it knows the ticks that the same
   * move crosses again, so that a price driven away and back in every block does not leave the depth unknown.
   */
  swingOf(pool: Address): TickSpan | undefined {
    return this.#blocks.reduce<TickSpan | undefined>(
      (all, { swings }) => joined(all, swings.get(pool)),
      undefined,
    )
  }

  /** Keeps the events of these pools from the next block on, until the returned function is called. */
  watch(pools: readonly NewPool[]): () => void {
    for (const pool of pools) this.#count(pool, 1)
    return () => {
      for (const pool of pools) this.#count(pool, -1)
    }
  }

  /** The family of a pool that is being read. */
  familyOf(pool: Address): Family | null {
    return this.#watched.get(pool)?.family ?? null
  }

  #count({ address, fee: { family } }: NewPool, change: 1 | -1): void {
    const readings = (this.#watched.get(address)?.readings ?? 0) + change
    if (readings <= 0) this.#watched.delete(address)
    else this.#watched.set(address, { family, readings })
  }
}

function swingsOf(block: Block): Recent['swings'] {
  const far = [...spansOf([block])].filter(([, { lowest, highest }]) => highest - lowest > SWING)
  return far.length === 0 ? NONE : new Map(far)
}

/** Both ranges and what lies between them. */
export function joined(a: TickSpan | undefined, b: TickSpan | undefined): TickSpan | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return { lowest: Math.min(a.lowest, b.lowest), highest: Math.max(a.highest, b.highest) }
}
