/**
 * Swaps without a chain: blocks of the synthetic market go through the engine and its commit into a real store, as
 * fast as possible. There is no node, feed or proof: this measures the engine, the text of its records, and the
 * database.
 */
import { createState, type Input, type State, step } from '@assay/engine'
import { Load, newMarket } from '../../bench/engineLoad.ts'
import { openAsProcess, type FullStore } from '../../packages/server/store/testing/connect.ts'
import { commitOf, type Stored } from '../../packages/server/worker/commitOf.ts'
import { bringUp } from '../../packages/world/market/bringUp.ts'
import type { Market } from '../../packages/world/market/market.ts'
import { answerCalls } from './part.ts'

export type Size = {
  readonly store: string
  readonly pools: number
  readonly tokens: number
  readonly swapsPerBlock: number
}
/** `engineBytes`: the memory needed to know the market. */
export type Known = { readonly pools: number; readonly tokens: number; readonly engineBytes: number }
export type Written = {
  readonly swaps: number
  readonly records: number
  readonly blocks: number
  readonly seconds: number
  readonly engineSeconds: number
  /** Time to build the commit of a step: entities, records and their full quotes. */
  readonly textSeconds: number
  /** Time of the transaction, including waiting. */
  readonly storeSeconds: number
  /** Full quotes alone. */
  readonly quoteBytes: number
}
/** The log since the start of `run`, read as by a following node. */
export type ReadBack = { readonly records: number; readonly bytes: number; readonly seconds: number }

/** Blocks built at a time, outside the measurement. */
const PORTION = 8

let begun = 0
let held: { state: State; store: FullStore; stored: Stored; load: Load } | null = null

answerCalls({
  async prepare({ store: address, pools, tokens, swapsPerBlock }: Size): Promise<Known> {
    const market = newMarket({ pools, tokens })
    const before = heapBytes()
    const state = createState(market.setup)
    const store = await openAsProcess(address)
    held = {
      state,
      store,
      stored: { pools: new Set(), tokens: new Map() },
      load: new Load(market, { swapsPerBlock }),
    }
    await introduce(market)
    return { pools: state.pools.size, tokens: state.tokens.size, engineBytes: heapBytes() - before }
  },

  async run(seconds: number): Promise<Written> {
    const { load, store } = known()
    begun = (await store.readBounds()).head
    const done = { swaps: 0, records: 0, blocks: 0, quoteBytes: 0 }
    const took = { engine: 0, text: 0, store: 0 }
    const total = () => took.engine + took.text + took.store
    while (total() < seconds * 1000)
      for (const input of load.next(PORTION)) {
        const { commit, tookMs } = await apply(input)
        for (const part of ['engine', 'text', 'store'] as const) took[part] += tookMs[part]
        if (input.kind === 'block') done.blocks += 1
        done.records += commit.records.length
        for (const { subject, quote } of commit.records) {
          if (subject.kind === 'none') done.swaps += 1
          done.quoteBytes += quote?.text.length ?? 0
        }
      }
    return {
      ...done,
      seconds: total() / 1000,
      engineSeconds: took.engine / 1000,
      textSeconds: took.text / 1000,
      storeSeconds: took.store / 1000,
    }
  },

  /** A block's worth at a time. */
  async read(page: number): Promise<ReadBack> {
    const { store } = known()
    const done = { records: 0, bytes: 0, seconds: 0 }
    const startMs = performance.now()
    for (let after = begun; ; ) {
      const records = await store.readLog(after, page, null)
      if (records.length === 0) return { ...done, seconds: (performance.now() - startMs) / 1000 }
      done.records += records.length
      for (const { envelope } of records) done.bytes += envelope.length
      after = records.at(-1)?.sequence ?? after
    }
  },

  close: () => held?.store.close(),
})

async function introduce(market: Market): Promise<void> {
  for (const input of bringUp(market)) await apply(input)
}

async function apply(input: Input) {
  const { state, store, stored } = known()
  const tipHash = state.chain.tip?.hash ?? null
  const startMs = performance.now()
  const result = step(state, input)
  const steppedMs = performance.now()
  const commit = commitOf(state, input, result, { tipHash }, stored)
  const writtenMs = performance.now()
  const { outcome } = await store.commit(commit)
  const endMs = performance.now()
  if (outcome !== 'committed') throw new Error(`step ${commit.step}: ${outcome}`)
  const tookMs = { engine: steppedMs - startMs, text: writtenMs - steppedMs, store: endMs - writtenMs }
  return { commit, tookMs }
}

function known(): NonNullable<typeof held> {
  if (held === null) throw new Error('nothing is prepared')
  return held
}

function heapBytes(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  globalThis.gc()
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
