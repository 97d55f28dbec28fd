/**
 * The past of pools that were not followed, folded from the logs of a window by the live functions on a separate
 * state. The result is what a service that had followed the pools from the window's start would know (R-history-1).
 *
 * Pure, and slow for a window of many blocks: `fold` is a generator, so that its caller decides when to continue.
 */
import { unreachable } from './assert.ts'
import { applyBlock } from './chain/blocks.ts'
import type { Address, Block, BlockRef, NewPool, PoolEvent } from './chain/block.ts'
import { type Surroundings, takeOver } from './chain/lookBackAround.ts'
import { isStartStated, startOf, type Before, type Start } from './chain/lookBackStart.ts'
import { applyLoad } from './chain/readings.ts'
import { addPool, termsOf } from './chain/registry.ts'
import { newbornState, settle } from './chain/poolFold.ts'
import { createState } from './createState.ts'
import { notePasts } from './chain/ownPast.ts'
import type { Pool } from './entities.ts'
import type { LoadedTicks } from './amm/tickBook.ts'
import type { LoadedPool, LookedBack, LookedPast, PastLogs } from './input.ts'
import * as depthAverage from './rules/depthAverage.ts'
import type { Past } from './rules/history.ts'
import type { State } from './state.ts'
import { type Count, count } from './units.ts'
import { newWork } from './work.ts'

/** A block of the window with events of pools in the look-back; blocks without any are omitted. */
export type PastBlock = BlockRef & { readonly events: readonly PoolEvent[] }

/** The part of the chain that was read. */
export type Window = {
  /** The last block before it. */
  readonly start: BlockRef
  /** The block at which the pools were read. */
  readonly end: BlockRef
  /** After `start` up to `end`, oldest first. */
  readonly blocks: readonly PastBlock[]
  readonly isProven: boolean
  readonly times: Past['times']
  readonly logs: PastLogs
}

/** A pool at the end of the window, and additional knowledge of it at the start besides its events. */
export type Traveller = Before & { readonly loaded: LoadedPool }

/**
 * Pools whose state at the start is in none of their events: it has to be read at that block, or searched for before
 * it.
 */
export function toAsk(pools: readonly NewPool[], { blocks }: Pick<Window, 'blocks'>): readonly NewPool[] {
  const events = byPool(blocks)
  return pools.filter(pool => !isStartStated(pool, (events.get(pool.address) ?? []).map(eventOf)))
}

/** Some pools on their way from the start of a window to its end, and through the blocks that have arrived since. */
export class LookBack {
  readonly #state: State
  readonly #window: Window
  readonly #pools: readonly LoadedPool[]
  /** Pools whose past begins only after one of their events, by the block of that event. */
  readonly #late = new Map<Count, Late[]>()
  readonly #short = new Set<Address>()
  /** Pools whose events contradict the state read at the end. */
  readonly #refused = new Set<Address>()

  constructor(around: Surroundings, window: Window, pools: readonly Traveller[]) {
    this.#state = createState(around.setup, around.policyView.policy)
    this.#window = window
    this.#pools = pools.map(({ loaded }) => loaded)
    takeOver(this.#state, around, this.#pools)
    standAt(this.#state, window.start)
    const events = byPool(window.blocks)
    for (const each of pools) {
      const own = events.get(each.loaded.pool.address) ?? []
      const start = startOf(each.loaded, own.map(eventOf), each)
      this.#place(each.loaded, own, start)
    }
  }

  /** Yields after every block that it has folded. */
  *fold(): Generator<void, void> {
    const { end, blocks } = this.#window
    for (const block of blocks) {
      const late = this.#late.get(block.number) ?? []
      for (const each of late) this.#enterLate(each, block)
      const said = new Set(late.flatMap(each => each.said))
      this.follow({ ...block, events: block.events.filter(event => !said.has(event)) })
      yield
    }
    standAt(this.#state, end)
    for (const loaded of this.#pools) this.#arrive(loaded, end)
  }

  /** Folds any block of our chain, in order, including blocks after the window. */
  follow(block: PastBlock): void {
    const { hash } = this.#state.chain.tip as BlockRef
    standAt(this.#state, { number: count(block.number - 1), hash, timeMs: block.timeMs })
    const whole: Block = { ...block, parentHash: hash, proof: 'none' }
    applyBlock(this.#state, whole, newWork())
    for (const address of new Set(block.events.map(({ pool }) => pool))) this.#seeWhole(address, block)
    forget(this.#state)
  }

  /** The pools in their present state. Omitted pools have no past that could be trusted. */
  result(): readonly LookedBack[] {
    const { isProven, times, logs, end } = this.#window
    return this.#pools.flatMap(loaded => {
      const { address } = loaded.pool
      const pool = this.#state.pools.get(address)
      if (pool === undefined || this.#refused.has(address)) return []
      const kind = this.#short.has(address) ? 'SHORT' : 'READ'
      const tradedByMs = loaded.tradedByMs ?? null
      const past: Past = { kind, readMs: end.timeMs, isProven, times, tradedByMs }
      const { createdBlock, createdMs } = pool
      const ticks = ticksOf(pool)
      return [{ pool: loaded.pool, createdBlock, createdMs, state: { ...pool.state, past }, ticks, logs }]
    })
  }

  /**
   * The values of the tokens that those pools price (R-history-9). A token is omitted if the events of one of its
   * pools are not trusted, because they took part in its value.
   */
  pasts(): readonly LookedPast[] {
    const pools = this.#pools.flatMap(({ pool }) => this.#state.pools.get(pool.address) ?? [])
    const doubted = new Set(pools.flatMap(pool => (this.#refused.has(pool.address) ? [pool.from] : [])))
    const tokens = [...new Set(pools.map(({ from }) => from))].filter(token => !doubted.has(token))
    return tokens.flatMap(token => {
      const past = this.#state.tokens.get(token)?.past ?? null
      return past === null || past.open.length === 0 ? [] : [{ token, past }]
    })
  }

  #place(loaded: LoadedPool, own: readonly Placed[], start: Start): void {
    const { start: block } = this.#window
    switch (start.kind) {
      case 'BORN':
        return
      case 'STATE':
        applyLoad(this.#state, block, [{ ...loaded, state: start.state, ticks: start.ticks }], newWork())
        return this.#seeWhole(loaded.pool.address, block)
      case 'SHORT': {
        const said = own.slice(0, start.at + 1)
        const { number } = said.at(-1) as Placed
        const late = { loaded, start, said: said.map(eventOf) }
        this.#late.set(number, [...(this.#late.get(number) ?? []), late])
        this.#short.add(loaded.pool.address)
        return
      }
      case 'CONTRADICTED':
        this.#refused.add(loaded.pool.address)
        return
      default:
        return unreachable(start)
    }
  }

  /** Starts from zero: its earlier state cannot have earned it a weight. */
  #enterLate({ loaded, start }: Late, block: PastBlock): void {
    const newborn = newbornState(start.state, block, null)
    const terms = termsOf(this.#state, loaded.pool, start.ticks)
    const pool = addPool(this.#state, loaded.pool, terms, { block: null, ms: null }, newborn)
    const state = settle(pool, newborn, block, null, null, this.#state.policyView.policy)
    const average = depthAverage.startFromNothing(state.depthY ?? 0n, block.timeMs)
    pool.state = { ...state, average }
    this.#seeWhole(loaded.pool.address, block)
    notePasts(this.#state, new Set([pool.from]), block.timeMs, newWork())
  }

  /** A depth beyond the ticks that were read counts as zero, and later states are judged on their own. */
  #seeWhole(address: Address, { timeMs }: Pick<BlockRef, 'timeMs'>): void {
    const pool = this.#state.pools.get(address)
    if (pool === undefined || !pool.state.incomplete) return
    const { average } = pool.state
    const without =
      average === null ? depthAverage.startFromNothing(0n, timeMs) : depthAverage.change(average, 0n, timeMs)
    pool.state = { ...pool.state, incomplete: false, average: without }
  }

  /**
   * The fold must have reached the state that was read; the pool is then reloaded, as after any event that did not
   * recompute.
   */
  #arrive(loaded: LoadedPool, end: BlockRef): void {
    const pool = this.#state.pools.get(loaded.pool.address)
    if (pool === undefined || this.#refused.has(pool.address)) return
    if (!isSame(pool, loaded.state)) this.#refused.add(pool.address)
    else applyLoad(this.#state, end, [loaded], newWork())
    forget(this.#state)
  }
}

type Placed = { readonly event: PoolEvent; readonly number: Count }
const eventOf = ({ event }: Placed): PoolEvent => event

type Late = {
  readonly loaded: LoadedPool
  readonly start: Extract<Start, { kind: 'SHORT' }>
  /** The events already contained in its initial state. */
  readonly said: readonly PoolEvent[]
}

function byPool(blocks: readonly PastBlock[]): ReadonlyMap<Address, readonly Placed[]> {
  const placed = blocks.flatMap(({ number, events }) => events.map(event => ({ event, number })))
  return Map.groupBy(placed, ({ event }) => event.pool)
}

function standAt(state: State, { number, hash, timeMs }: BlockRef): void {
  state.chain = { ...state.chain, tip: { number, hash, timeMs } }
}

/** Discards the journal and the changes: nothing here is undone or written. */
function forget(state: State): void {
  state.journals.length = 0
  state.index.changed.clear()
}

const isSame = ({ around, terms, state }: Pool, read: LoadedPool['state']): boolean =>
  around.adapter.differences(terms, state.amm, read).length === 0

function ticksOf({ around, terms }: Pool): LoadedTicks | null {
  const book = around.adapter.book(terms)
  if (book === null) return null
  const { lowest, highest } = book
  return { range: { lowest, highest }, entries: book.entries() }
}
