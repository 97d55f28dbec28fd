/**
 * The memory of an engine: brings one up, lets it follow some blocks, drops the market, collects garbage, and prints
 * the remaining memory as JSON. Run by the memory row, in a separate process.
 */
import type { State } from '../packages/engine/state.ts'
import { assertVerified, engineFor, Load, newMarket, noSteps, pricedTokens, runSteps } from './engineLoad.ts'

/** Enough for journals, histories and the indexes of the pools that trade. */
const BLOCKS = 96
const SWAPS_PER_BLOCK = 200

if (globalThis.gc === undefined) throw new Error('run with --expose-gc')

/** A separate function, so that no part of the market is left on the stack when the heap is measured. */
function bringUpAndRun(): State {
  const market = newMarket({ pools: 100_000, tokens: 50_000 })
  const state = engineFor(market)
  const load = new Load(market, { swapsPerBlock: SWAPS_PER_BLOCK })
  runSteps(state, load.next(BLOCKS), noSteps())
  assertVerified(state)
  return state
}

const state = bringUpAndRun()
globalThis.gc()
globalThis.gc()
const { heapUsed, external, rss } = process.memoryUsage()
const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`
const lines = [
  `${state.pools.size} pools, ${state.tokens.size} tokens, ${pricedTokens(state)} with a price, ${state.journals.length} blocks of undo`,
  `beside the heap: external ${mib(external)}, resident ${mib(rss)}`,
]
console.log(JSON.stringify({ heapUsed, lines }))
