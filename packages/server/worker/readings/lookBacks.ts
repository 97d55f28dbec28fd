/**
 * Gives new pools their last 35 minutes: the window is read beside the lane, folded in slices between which the chain
 * continues, and brought to the tip with the blocks that arrived meanwhile. If the window is not available, the pools
 * come in without it and report that (R-history-4).
 */
import { setImmediate as turn } from 'node:timers/promises'
import {
  type Before,
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
import type { PastReader } from '../../feed/history/past.ts'
import type { Market, TickSpan } from '../../market/market.ts'
import { readBefore, readWindow, spansOf } from '../../market/pastWindow.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Address } from '../../ops/hex.ts'
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
/** The events of the window contain the pool's state before them. */
const UNASKED: Before = { read: null, older: [] }

export class LookBacks {
  readonly #context: LookBackContext

  constructor(context: LookBackContext) {
    this.#context = context
  }

  /** The window of these pools up to `block`; null when it is not available. */
  async read(
    pools: readonly NewPool[],
    block: BlockRef,
    { market, signal }: Means,
  ): Promise<ReadWindow | null> {
    const { chain, reader } = this.#context
    const until = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)])
    const reading = reader.begin(until)
    return this.#orNone(
      pools,
      async () => {
        const window = await readWindow(reading, chain, pools, block)
        const before = await readBefore(reading, chain, market, toAsk(pools, window), window, until)
        return new ReadWindow(this.#context.state, window, before)
      },
      signal,
    )
  }

  /** Folds the past of pools up to the window's end; null when that fails. */
  fold(read: ReadWindow, loaded: readonly LoadedPool[], { signal }: Means): Promise<Folded | null> {
    const pools = loaded.map(({ pool }) => pool)
    return this.#orNone(pools, () => read.fold(loaded), signal)
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
  /** The range of prices of its pools, before the window and in it. */
  readonly spans: ReadonlyMap<Address, TickSpan>
  readonly #state: State
  readonly #window: Window
  readonly #before: ReadonlyMap<Address, Before>

  constructor(state: State, window: Window, before: ReadonlyMap<Address, Before>) {
    this.#state = state
    this.#window = window
    this.#before = before
    this.spans = spansOf(window.blocks, before)
  }

  async fold(loaded: readonly LoadedPool[]): Promise<Folded> {
    const travellers = loaded.map(
      (each): Traveller => ({ loaded: each, ...(this.#before.get(each.pool.address) ?? UNASKED) }),
    )
    const lookBack = new LookBack(this.#state, this.#window, travellers)
    let sinceMs = performance.now()
    for (const _ of lookBack.fold()) {
      if (performance.now() - sinceMs < SLICE_MS) continue
      await turn()
      sinceMs = performance.now()
    }
    return new Folded(lookBack, this.#window.end)
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
