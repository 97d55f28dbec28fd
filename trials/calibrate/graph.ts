/**
 * A graph of real constant-product pairs through the engine, compared with the deepest direct pool of each token,
 * computed separately in floating point.
 */
import type { Address, NewPool } from '../../packages/engine/chain/block.ts'
import { createState } from '../../packages/engine/createState.ts'
import { step } from '../../packages/engine/engine.ts'
import type { State } from '../../packages/engine/state.ts'
import { DAY, MINUTE } from '../../packages/engine/testing/cast.ts'
import { ChainSim } from '../../packages/engine/testing/chainSim.ts'
import { count, ms } from '../../packages/engine/units.ts'
import { apartBps } from './sample.ts'

/** `tokens` are [address, symbol, decimals]; `pools` [address, token0, token1, reserve0, reserve1] by index, in raw units. */
export type GraphFile = {
  readonly feeBps: number
  readonly tokens: readonly (readonly [address: Address, symbol: string, decimals: number])[]
  readonly pools: readonly (readonly [
    address: Address,
    token0: number,
    token1: number,
    reserve0: string,
    reserve1: string,
  ])[]
}

type GraphToken = GraphFile['tokens'][number]

export type Comparison = {
  /** Tokens with a direct pool that the engine gives a price. */
  readonly priced: number
  readonly within1: number
  readonly within5: number
  readonly further: readonly { token: Address; symbol: string; score: number; apartBps: number }[]
  readonly holds: boolean
}

/** The stables of the graph's chain, which has other tokens with the same names. */
const STABLES: readonly Address[] = [
  '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  '0xdac17f958d2ee523a2206206994597c13d831ec7',
  '0x6b175474e89094c44da98b954eedeac495271d0f',
]
const WRAPPED: Address = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const START_MS = 1_700_000_000_000
const BLOCK_MS = 12_048
const [NEAR_BPS, FAR_BPS] = [100, 500]
/**
 * The result of version 0.1: this share of its tokens within 1%, at most two further away than 5%, and neither of
 * those above a score of 2.
 */
const KEPT = { within1: 927 / 939, further: 2, score: 2 } as const

type Side = { readonly reserve: number; readonly other: Address; readonly otherReserve: number }

export function compareGraph(graph: GraphFile): Comparison {
  const tokens = new Map(graph.tokens.map(([address, symbol, decimals]) => [address, { symbol, decimals }]))
  const sides = sidesOf(graph)
  const wrappedUsd = deepestUsd(sides.get(WRAPPED) ?? [], new Map(STABLES.map(stable => [stable, 1])))
  const anchors = new Map([
    ...STABLES.map(stable => [stable, 1] as const),
    [WRAPPED, wrappedUsd ?? 0] as const,
  ])
  const engine = engineOf(graph)
  const apart: { token: Address; symbol: string; score: number; apartBps: number }[] = []
  for (const [token, { symbol }] of tokens) {
    if (anchors.has(token)) continue
    const byHand = deepestUsd(sides.get(token) ?? [], anchors)
    if (byHand === null) continue
    step(engine, { kind: 'enrol', atMs: engine.chain.tip?.timeMs ?? ms(START_MS), token })
    const state = engine.tokens.get(token)?.published?.compact
    if (state?.state !== 'PRICED') continue
    const usd = Number(state.price_usd.display)
    apart.push({ token, symbol, score: state.confidence.score, apartBps: apartBps(usd, byHand) })
  }
  const within1 = apart.filter(each => each.apartBps <= NEAR_BPS).length
  const within5 = apart.filter(each => each.apartBps <= FAR_BPS).length - within1
  const further = apart.filter(each => each.apartBps > FAR_BPS).sort((a, b) => a.apartBps - b.apartBps)
  const holds =
    within1 >= KEPT.within1 * apart.length &&
    further.length <= KEPT.further &&
    further.every(({ score }) => score <= KEPT.score)
  return { priced: apart.length, within1, within5, further, holds }
}

/** Both tokens' views of each pool that is not empty, in whole tokens. */
function sidesOf({ tokens, pools }: GraphFile): Map<Address, Side[]> {
  const sides = new Map<Address, Side[]>()
  for (const [, of0, of1, reserve0, reserve1] of pools) {
    const [token0, token1] = [tokens[of0], tokens[of1]] as [GraphToken, GraphToken]
    const [whole0, whole1] = [Number(reserve0) / 10 ** token0[2], Number(reserve1) / 10 ** token1[2]]
    if (whole0 === 0 || whole1 === 0) continue
    const add = (token: Address, side: Side) => sides.set(token, [...(sides.get(token) ?? []), side])
    add(token0[0], { reserve: whole0, other: token1[0], otherReserve: whole1 })
    add(token1[0], { reserve: whole1, other: token0[0], otherReserve: whole0 })
  }
  return sides
}

/** The price by the direct pool with the most dollars on its other side; null without one. */
function deepestUsd(sides: readonly Side[], anchors: ReadonlyMap<Address, number>): number | null {
  let best: { readonly usd: number; readonly price: number } | null = null
  for (const { reserve, other, otherReserve } of sides) {
    const value = anchors.get(other)
    if (value === undefined) continue
    const usd = otherReserve * value
    if (best === null || usd > best.usd) best = { usd, price: usd / reserve }
  }
  return best === null ? null : best.price
}

/** Everything that a service reads of the chain at one block: feeds at one dollar, decimals, pools. */
function engineOf({ tokens, pools, feeBps }: GraphFile): State {
  const state = createState({
    chainId: count(1),
    blockTimeMs: ms(BLOCK_MS),
    stables: STABLES.map(token => ({ token, feed: { heartbeatMs: ms(DAY), graceMs: ms(MINUTE) } })),
    routingAssets: [WRAPPED],
    hasSequencer: false,
  })
  const mined = new ChainSim({ startMs: START_MS }).mine()
  const block = { number: mined.number, hash: mined.hash, timeMs: mined.timeMs }
  const atMs = block.timeMs
  const record = { status: 'HEALTHY', updated_at_ms: atMs }
  const answer = { value: 100_000_000n, decimals: count(8), updatedAtMs: atMs, complete: true }
  step(state, { kind: 'health', atMs, health: { status: 'HEALTHY', record } })
  step(state, { kind: 'block', atMs, block: mined })
  step(state, {
    kind: 'stable',
    atMs,
    block,
    answers: STABLES.map(token => ({ token, answer })),
    sequencer: null,
  })
  const facts = tokens.map(([token, , decimals]) => ({
    token,
    decimals: count(decimals),
    reason: null,
    symbol: null,
    name: null,
  }))
  step(state, { kind: 'token_facts', atMs, block, facts })
  const loaded = pools.map(([address, of0, of1, reserve0, reserve1]) => {
    const pool: NewPool = {
      address,
      deploymentId: 'v2',
      token0: (tokens[of0] as GraphToken)[0],
      token1: (tokens[of1] as GraphToken)[0],
      fee: { family: 'amm_v2', numerator: BigInt(10_000 - feeBps), denominator: 10_000n },
    }
    const amm = { family: 'amm_v2', reserve0: BigInt(reserve0), reserve1: BigInt(reserve1) } as const
    return { pool, createdBlock: null, createdMs: null, state: amm, ticks: null, lastTradeMs: null }
  })
  step(state, { kind: 'load', atMs, block, pools: loaded })
  return state
}
