/**
 * The five chains of `npm run soak:chains`: their real block rates, and a market of constant-product pairs on each. No
 * contract exists: every address follows from its name, and `contracts.ts` answers for it.
 */
import { create2, digitsOf } from '../../packages/server/market/create2.ts'
import { encodeAddress } from '../../packages/server/market/abiWords.ts'
import type { Address, Hex } from '../../packages/server/ops/hex.ts'
import { keccak256 } from '../../packages/server/ops/keccak.ts'

export type ChainRate = {
  readonly chainId: number
  readonly blocksPerSecond: number
  readonly swapsPerBlock: number
  /** Transfers of tokens that nobody follows. */
  readonly otherLogsPerBlock: number
}

/** Blocks of these sizes have 55 swaps a second together. */
export const RATES: readonly ChainRate[] = [
  { chainId: 56, blocksPerSecond: 2.2, swapsPerBlock: 12, otherLogsPerBlock: 40 },
  { chainId: 42_161, blocksPerSecond: 4, swapsPerBlock: 3, otherLogsPerBlock: 20 },
  { chainId: 43_114, blocksPerSecond: 1, swapsPerBlock: 6, otherLogsPerBlock: 40 },
  { chainId: 137, blocksPerSecond: 0.6, swapsPerBlock: 10, otherLogsPerBlock: 60 },
  { chainId: 1, blocksPerSecond: 0.08, swapsPerBlock: 50, otherLogsPerBlock: 200 },
]

export type PairPlan = {
  readonly address: Address
  readonly tokens: readonly [Address, Address]
  readonly reserves: readonly [bigint, bigint]
}

export type MarketPlan = {
  readonly rate: ChainRate
  readonly factory: Address
  readonly stables: readonly {
    readonly token: Address
    readonly feed: Address
    readonly aggregator: Address
  }[]
  readonly routing: Address
  /** The long tail, without stables and the routing asset. */
  readonly tail: readonly Address[]
  readonly pairs: readonly PairPlan[]
}

export const DECIMALS = 18
export const FEED_DECIMALS = 8

const TAIL_TOKENS = 16
const ROUTING_USD = 2000
/** One side of a pair in dollars. */
const DEEP_USD = 5_000_000
const INIT_CODE: Hex = `0x${hashOf('init code')}`
/** Past that the service reads at its start, so that medians over five minutes exist at once. */
const START_BEHIND_S = 330

export const hash = (name: string): Hex => `0x${hashOf(name)}`
export const addressOf = (name: string): Address => `0x${hashOf(name).slice(24)}`

export function marketOf(rate: ChainRate): MarketPlan {
  const of = (name: string) => addressOf(`${rate.chainId}/${name}`)
  const factory = of('factory')
  const routing = of('routing asset')
  const stables = ['first', 'second'].map(name => ({
    token: of(`${name} stable`),
    feed: of(`${name} feed`),
    aggregator: of(`${name} aggregator`),
  }))
  const tail = Array.from({ length: TAIL_TOKENS }, (_, at) => of(`token ${at}`))
  const usd = new Map<Address, number>([
    [routing, ROUTING_USD],
    ...stables.map(({ token }) => [token, 1] as const),
  ])
  // Prices from a hundredth of a dollar to some hundreds.
  for (const [at, token] of tail.entries()) usd.set(token, 0.01 * 2 ** at)
  const pair = (a: Address, b: Address, sideUsd: number): PairPlan => {
    const [token0, token1] = a < b ? [a, b] : [b, a]
    const address = create2(factory, INIT_CODE, digitsOf(token0), digitsOf(token1)) as Address
    const units = (token: Address) =>
      BigInt(Math.round(sideUsd / (usd.get(token) as number))) * 10n ** BigInt(DECIMALS)
    return { address, tokens: [token0, token1], reserves: [units(token0), units(token1)] }
  }
  const stable = (at: number) => (stables[at % stables.length] as (typeof stables)[number]).token
  return {
    rate,
    factory,
    stables,
    routing,
    tail,
    pairs: [
      ...stables.map(({ token }) => pair(token, routing, DEEP_USD)),
      ...tail.flatMap((token, at) => [
        pair(token, routing, DEEP_USD / 10),
        pair(token, stable(at), DEEP_USD / 20),
      ]),
    ],
  }
}

/** The chain in the service's configuration. */
export function chainConfig(
  { rate, factory, stables, routing, tail }: MarketPlan,
  { url, genesisHash }: { readonly url: string; readonly genesisHash: Hex },
): object {
  return {
    chain_id: rate.chainId,
    name: `recorded ${rate.chainId}`,
    endpoints: [
      { name: 'recorded', url: url.replace(/^http/, 'ws') },
      { name: 'recorded-http', url },
    ],
    genesis_hash: genesisHash,
    block_time_ms: Math.round(1000 / rate.blocksPerSecond),
    start_behind_s: START_BEHIND_S,
    finality: { tag: 'finalized' },
    wrapped_native: routing,
    deployments: [
      {
        deployment_id: 'pairs',
        family: 'amm_v2',
        factory_address: factory,
        deployment_block: 0,
        fee: { numerator: 997, denominator: 1000 },
        init_code_hash: INIT_CODE,
      },
    ],
    stables: stables.map(({ token, feed }) => ({
      token_address: token,
      usd_feed: { address: feed, heartbeat_s: 86_400, grace_s: 600 },
    })),
    sequencer_uptime_feed: null,
    routing_assets: [routing],
    tokens: tail,
  }
}

/** A topic of an address, or of a number. */
export const topic = (address: Address): Hex => `0x${encodeAddress(address)}`

function hashOf(name: string): string {
  return keccak256(Buffer.from(`soak:chains ${name}`)).toString('hex')
}
