/**
 * Gives new pools their last 35 minutes: the window is read beside the lane, folded in slices between which the chain
 * continues, and brought to the tip with the blocks that arrived meanwhile. If the window is not available, the pools
 * come in without it and report that (R-history-4).
 */
import { setImmediate as turn } from 'node:timers/promises'
import {
  type Input,
  type LoadedPool,
  LookBack,
  type LookedBack,
  type LookedPast,
  type NewPool,
  type PastBlock,
  type State,
  toAsk,
  type Traveller,
  type Window,
} from '@assay/engine'
import { isFeedError } from '../../feed/feedError.ts'
import type { PastReader, PastReading } from '../../feed/history/past.ts'
import type { Market, TickSpan } from '../../market/market.ts'
import { readBefore, readWindow, spansOf } from '../../market/pastWindow.ts'
import type { Address, ChainConfig } from '../../ops/config.ts'
import type { Log } from '../../ops/log.ts'

type Means = { readonly market: Pick<Market, 'recheck'>; readonly signal: AbortSignal }
type BlockRef = Extract<Input, { kind: 'load' }>['block']

export type LookBackContext = {
  readonly chain: ChainConfig
  readonly state: State
  readonly reader: PastReader
  readonly log: Log
}

/** A look-up may take 30 s: what has not arrived by half of that is left out. */
const READ_MS = 15_000
/** Longest uninterrupted fold, which bounds the delay of an arriving block. */
const SLICE_MS = 8

export class LookBacks {
  readonly #context: LookBackContext

  constructor(context: LookBackContext) {
    this.#context = context
  }

  /** The window of these pools up to `block`; null when it is not available. */
  async read(pools: readonly NewPool[], block: BlockRef, { signal }: Means): Promise<ReadWindow | null> {
    const { chain, reader } = this.#context
    const until = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)])
    const reading = reader.begin(until)
    return this.#orNone(
      pools,
      async () =>
        new ReadWindow(this.#context, reading, await readWindow(reading, chain, pools, block), until),
      signal,
    )
  }

  /** Folds the past of pools up to the window's end; null when that fails. */
  fold(read: ReadWindow, loaded: readonly LoadedPool[], means: Means): Promise<Folded | null> {
    const pools = loaded.map(({ pool }) => pool)
    return this.#orNone(pools, () => read.fold(loaded, means), means.signal)
  }

  async #orNone<Result>(
    pools: readonly NewPool[],
    task: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | null> {
    try {
      return await task()
    } catch (failure) {
      signal.throwIfAborted()
      const isLate = failure instanceof DOMException
      if (!isLate && !isFeedError(failure)) throw failure
      this.#context.log.warn('the past of pools could not be read', {
        chain_id: this.#context.chain.chainId,
        pools: pools.length,
        error: isLate ? `not within ${READ_MS} ms` : failure.message,
      })
      return null
    }
  }
}

export class ReadWindow {
  /** The range of prices of its pools. */
  readonly spans: ReadonlyMap<Address, TickSpan>
  readonly #context: LookBackContext
  readonly #reading: PastReading
  readonly #window: Window
  readonly #until: AbortSignal

  constructor(context: LookBackContext, reading: PastReading, window: Window, until: AbortSignal) {
    this.#context = context
    this.#reading = reading
    this.#window = window
    this.#until = until
    this.spans = spansOf(window.blocks)
  }

  async fold(loaded: readonly LoadedPool[], { market }: Means): Promise<Folded> {
    const { chain, state } = this.#context
    const window = this.#window
    const unread = loaded.map((each): Traveller => ({ loaded: each, read: null, older: null }))
    const asked = toAsk(unread, window)
    const before = await readBefore(this.#reading, chain, market, asked, window, this.#until)
    const travellers = unread.map(each => ({ ...each, ...before.get(each.loaded.pool.address) }))
    const lookBack = new LookBack(state, window, travellers)
    let sinceMs = performance.now()
    for (const _ of lookBack.fold()) {
      if (performance.now() - sinceMs < SLICE_MS) continue
      await turn()
      sinceMs = performance.now()
    }
    return new Folded(lookBack, window.end)
  }
}

/** Pools with their final state, and the prices they gave for their tokens. */
export type AtTip = { readonly pools: readonly LookedBack[]; readonly pasts: readonly LookedPast[] }

/** Pools with their past, at the last block applied to them. */
export class Folded {
  readonly #lookBack: LookBack
  #at: BlockRef

  constructor(lookBack: LookBack, at: BlockRef) {
    this.#lookBack = lookBack
    this.#at = at
  }

  /** Call inside the lane. The pools at the tip; null when the blocks since are not known. */
  atTip(since: (hash: BlockRef['hash']) => readonly PastBlock[] | null): AtTip | null {
    const passed = since(this.#at.hash)
    if (passed === null) return null
    for (const block of passed) this.#lookBack.follow(block)
    this.#at = passed.at(-1) ?? this.#at
    return { pools: this.#lookBack.result(), pasts: this.#lookBack.pasts() }
  }
}
