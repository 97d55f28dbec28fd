/**
 * The inputs that introduce a market to a new engine: enrolments, health, the stables' answers and the external
 * depth, then pools and token facts in portions, one block each, as a worker would load them. No trades happen before
 * it is over.
 */
import type { BlockRef } from '../../engine/chain/block.ts'
import type { Input, LoadedPool, TokenFacts } from '../../engine/input.ts'
import { FULL_RANGE } from '../../engine/amm/tickBook.ts'
import { count, type Ms, ms } from '../../engine/units.ts'
import type { MarketToken } from './graph.ts'
import type { Market, MarketPool } from './market.ts'

/** From a block's time to its hand-over. */
const LATENCY_MS = 300

/** Pools per load, unless the caller asks for another number. */
const PORTION = 500

/** A stable's answer has 8 decimals and is never quite 1. */
const ANSWERS = [99_990_000n, 100_020_000n, 99_980_000n]

/** The 2% depth that external sources report for each routing asset, in microdollars. */
const EXTERNAL_DEPTH_MICROUSD = 20_000_000n * 1_000_000n

export const handedOverMs = (block: BlockRef): Ms => ms(block.timeMs + LATENCY_MS)

export function* bringUp(market: Market, portion: number = PORTION): Generator<Input> {
  const { clock, setup, tokens, pools } = market
  const atMs = handedOverMs(clock.tip)
  for (const token of tokens) if (token.role === 'TOKEN') yield { kind: 'enrol', atMs, token: token.address }
  yield { kind: 'health', atMs, health: { status: 'HEALTHY', record: {} } }
  const assets = setup.routingAssets.map(token => ({
    token,
    depthMicrousd: EXTERNAL_DEPTH_MICROUSD,
    asOfMs: clock.tip.timeMs,
  }))
  yield { kind: 'coverage', atMs, assets }

  const described = new Set<number>()
  for (let at = 0; at < pools.length; at += portion) {
    const block = clock.mine([])
    const atMs = handedOverMs(block)
    const some = pools.slice(at, at + portion)
    yield { kind: 'block', atMs, block }
    if (at === 0) yield stableAnswers(market, block)
    const places = new Set(some.flatMap(pool => pool.places).filter(place => !described.has(place)))
    for (const place of places) described.add(place)
    yield {
      kind: 'token_facts',
      atMs,
      block,
      facts: [...places].map(place => factsOf(tokens[place] as MarketToken)),
    }
    yield { kind: 'load', atMs, block, pools: some.map(loadedPool) }
  }
}

/** The stables' answers at this block, valid for a day. */
function stableAnswers(market: Market, block: BlockRef): Input {
  const answers = market.setup.stables.map(({ token }, at) => ({
    token,
    answer: {
      value: ANSWERS[at % ANSWERS.length] as bigint,
      decimals: count(8),
      updatedAtMs: block.timeMs,
      complete: true,
    },
  }))
  return { kind: 'stable', atMs: handedOverMs(block), block, answers, sequencer: null }
}

const factsOf = ({ address, decimals, symbol }: MarketToken): TokenFacts => ({
  token: address,
  decimals: count(decimals),
  reason: null,
  symbol,
  name: `Token ${symbol}`,
})

function loadedPool({ born, terms, amm, createdMs, lastTradeMs }: MarketPool): LoadedPool {
  return {
    pool: born,
    createdBlock: null,
    createdMs: ms(createdMs),
    state: amm,
    ticks: terms.family === 'amm_v2' ? null : { range: FULL_RANGE, entries: terms.book.entries() },
    lastTradeMs: ms(lastTradeMs),
  }
}
