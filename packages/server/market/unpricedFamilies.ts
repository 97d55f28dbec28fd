/**
 * Finds pools of families that are recognised but not priced, so that a token with liquidity there gets a reason for
 * having no price (`UNSUPPORTED_FAMILY`). A factory that is missing or answers differently yields no pool; nothing is
 * priced from these.
 */
import type { UnpricedPool } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { ChainConfig, UnpricedFactory, UnpricedFamily } from '../config/config.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import { addressAt, callData, encodeAddress, encodeInt, uintAt, wordCount } from './abiWords.ts'

const NO_POOL = `0x${'0'.repeat(40)}`
/** Pools listed in an answer; the first ones by address. */
const MAX_NAMED = 5

export async function findUnpriced(
  rpc: ChainRpc,
  chain: ChainConfig,
  token: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<UnpricedPool[]> {
  const partners = [...chain.stables.map(stable => stable.tokenAddress), ...chain.routingAssets].filter(
    each => each !== token,
  )
  const asked = (chain.unpricedFactories ?? []).flatMap(factory =>
    partners.flatMap(partner =>
      CALLS[factory.family](token, partner).map(data =>
        poolBy(rpc, factory, data, POOL_WORD[factory.family] ?? 0, block, signal),
      ),
    ),
  )
  const named = (await Promise.all(asked)).filter(pool => pool !== null)
  const pools = [...new Map(named.map(pool => [pool.address, pool])).values()]
  const holds = await Promise.all(pools.map(({ address }) => isHolder(rpc, token, address, block, signal)))
  return pools
    .filter((_, at) => holds[at])
    .sort((a, b) => (a.address < b.address ? -1 : 1))
    .slice(0, MAX_NAMED)
}

type Calls = (token: Address, partner: Address) => readonly Hex[]

/** One call for each possible pool of a pair in a factory: tiers, tick spacings, or stable and volatile. */
const CALLS: Readonly<Record<UnpricedFamily, Calls>> = {
  algebra: (a, b) => [callData(SELECTOR['poolByPair(address,address)'], ...sorted(a, b))],
  pancake_v3: (a, b) =>
    [100, 500, 2500, 10_000].map(tier =>
      callData(SELECTOR['getPool(address,address,uint24)'], ...sorted(a, b), encodeInt(BigInt(tier))),
    ),
  slipstream: (a, b) =>
    [1, 50, 100, 200, 2000].map(spacing =>
      callData(SELECTOR['getPool(address,address,int24)'], ...sorted(a, b), encodeInt(BigInt(spacing))),
    ),
  // The first generation calls its look-up getPair, the second getPool; each reverts for the other's.
  solidly: (a, b) =>
    [SELECTOR['getPair(address,address,bool)'], SELECTOR['getPool(address,address,bool)']].flatMap(selector =>
      [0n, 1n].map(isStable => callData(selector, ...sorted(a, b), encodeInt(isStable))),
    ),
  liquidity_book: (a, b) => [callData(SELECTOR['getAllLBPairs(address,address)'], ...sorted(a, b))],
  curve: (a, b) => [callData(SELECTOR['find_pool_for_coins(address,address)'], ...sorted(a, b))],
}

/** The word of the answer that is the pool: getAllLBPairs returns an offset, a length, then (binStep, pair, …) each. */
const POOL_WORD: Partial<Readonly<Record<UnpricedFamily, number>>> = { liquidity_book: 3 }

async function poolBy(
  rpc: ChainRpc,
  { family, deploymentId, factoryAddress }: UnpricedFactory,
  data: Hex,
  word: number,
  block: BlockRef,
  signal: AbortSignal,
): Promise<UnpricedPool | null> {
  const answer = await rpc.call(factoryAddress, data, block.hash, signal)
  if (answer === null || wordCount(answer) <= word) return null
  const address = addressAt(answer, word)
  return address === NO_POOL ? null : { address, family, deploymentId }
}

/** Whether the contract holds any of the token: an empty pool, or a contract that answers anything, does not. */
async function isHolder(
  rpc: ChainRpc,
  token: Address,
  holder: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<boolean> {
  const data = callData(SELECTOR['balanceOf(address)'], encodeAddress(holder))
  const answer = await rpc.call(token, data, block.hash, signal)
  return answer !== null && wordCount(answer) >= 1 && uintAt(answer, 0) > 0n
}

const sorted = (a: Address, b: Address): readonly [string, string] =>
  a < b ? [encodeAddress(a), encodeAddress(b)] : [encodeAddress(b), encodeAddress(a)]
