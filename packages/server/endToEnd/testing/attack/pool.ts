/**
 * A pool of an attack: its moves as calls of the trader, and what they make of a pair's reserves, so that the next move of
 * the same block can be computed before the chain has seen the one before.
 */
import {
  type Band,
  createTickPool,
  createV2Pair,
  POOL_FAMILIES,
  type PoolSpec,
  sizes,
  type TickPool,
  type TickSource,
  trader,
  V2_PAIR_INIT_CODE_HASH,
} from '@assay/world'
import { getAddress } from 'viem'
import type { Hex, TestChain } from '../testChain.ts'

export const V2_FEE = { numerator: 997n, denominator: 1000n }
const WIDE: Band = [0.25, 4]
/** A swap over ticks ends at its price limit, and takes no more than this. */
const EVERYTHING = 1n << 200n
const Q96 = 2 ** 96

export type Side = 0 | 1
export type Asset = sizes.Coin & { readonly symbol: string; readonly address: Hex }
export type Pool = {
  /** The contract that holds its tokens. */
  readonly address: Hex
  readonly of: Asset
  readonly other: Asset
  readonly spec: PoolSpec
  /** Which token of the pool the token is. */
  readonly side: Side
  /** Null for a pair. */
  readonly ticks: TickPool | null
  readonly held: Map<number, Held>
  /** What the moves so far have made of it, in the token's orientation of a pair, and the price a pool was pushed to. */
  reserves: readonly [bigint, bigint]
  shares: bigint
  usd: number
}
/** Shares of a pair, or liquidity between two ticks. */
type Held = { readonly amount: bigint; readonly ticks: readonly [lower: number, upper: number] | null }

export const sideOf = (of: Asset, other: Asset): Side => (of.address < other.address ? 0 : 1)

/** token1 per token0 in atomic units, at this price of the token. */
export function rawPrice({ side, of, other }: Pick<Pool, 'side' | 'of' | 'other'>, usd: number): number {
  const token = { ...of, usd }
  return side === 0 ? sizes.rawPrice(token, other) : sizes.rawPrice(other, token)
}

export const sqrtPriceX96 = (raw: number): bigint => BigInt(Math.round(Math.sqrt(raw) * Q96))

/** Of the pool's tokens in the order of their addresses. */
export const inOrder = (side: Side, x: bigint, y: bigint): readonly [bigint, bigint] =>
  side === 0 ? [x, y] : [y, x]
export const inPair = (side: Side, x: Hex, y: Hex): readonly [Hex, Hex] => (side === 0 ? [x, y] : [y, x])

/** Without liquidity; a pool with ticks is at the price of `of`. */
export async function create(chain: TestChain, spec: PoolSpec, of: Asset, other: Asset): Promise<Pool> {
  const { client, plan } = chain.world
  const { family = 'v2', factory = 'a', feePpm = 3000 } = spec
  const id = `${family}-${factory}`
  const deployment = plan.deployments.find(each => each.id === id)
  if (deployment === undefined) throw new Error(`the plan has no deployment ${id}`)
  const tokens = [getAddress(of.address), getAddress(other.address)] as const
  const side = sideOf(of, other)
  const known = {
    of,
    other,
    spec,
    side,
    held: new Map(),
    reserves: [0n, 0n],
    shares: 0n,
    usd: of.usd,
  } as const
  const { termsOf } = POOL_FAMILIES[family]
  if (termsOf === null) {
    const pairs = { address: deployment.factory, pairInitCodeHash: V2_PAIR_INIT_CODE_HASH }
    const { address } = await createV2Pair(client, pairs, tokens)
    return { ...known, address: lower(address), ticks: null }
  }
  const made = sqrtPriceX96(rawPrice(known, of.usd))
  const source = deployment as TickSource
  const ticks = await createTickPool(client, { source, tokens, sqrtPriceX96: made, ...termsOf(feePpm) })
  return { ...known, address: lower(ticks.holder), ticks }
}

/** Liquidity around the pool's price, held under a number. */
export function add(pool: Pool, depth: number, which: number, band?: Band): Hex {
  return pool.ticks === null
    ? fill(pool, depth, which)
    : mint(pool, pool.ticks, depth, band ?? pool.spec.band ?? WIDE, which)
}

export function remove(pool: Pool, which: number): readonly Hex[] {
  const held = pool.held.get(which)
  if (held === undefined) throw new Error(`${pool.address} has no position ${which}`)
  pool.held.delete(which)
  return take(pool, held)
}

/** Takes out a share of every position. */
export function drain(pool: Pool, share: number): readonly Hex[] {
  const part = (amount: bigint) => (amount * BigInt(Math.round(share * 10_000))) / 10_000n
  return [...pool.held].flatMap(([which, held]) => {
    const amount = part(held.amount)
    pool.held.set(which, { ...held, amount: held.amount - amount })
    return take(pool, { ...held, amount })
  })
}

/** Trades until the marginal price is this. */
export function push(pool: Pool, usd: number): readonly Hex[] {
  const wantedRaw = rawPrice(pool, usd)
  pool.usd = usd
  const { ticks } = pool
  if (ticks !== null) {
    const limit = sqrtPriceX96(wantedRaw)
    // Only the contract knows the direction: the wrong one reverts and changes nothing.
    return [true, false].map(isZeroForOne => ticks.swap(isZeroForOne, EVERYTHING, limit))
  }
  const wanted = (usd / pool.other.usd) * 10 ** (pool.other.decimals - pool.of.decimals)
  const [x, y] = pool.reserves.map(Number) as [number, number]
  if (y / x === wanted) return []
  const isSale = y / x > wanted
  // To the price with the fee left in the pair, found by halving.
  let [low, high] = [0n, isSale ? pool.reserves[0] * 1000n : pool.reserves[1] * 1000n]
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    const after = swapped(pool.reserves, isSale, middle)
    const price = Number(after[1]) / Number(after[0])
    if (isSale ? price > wanted : price < wanted) low = middle
    else high = middle
  }
  return swapV2(pool, isSale, low)
}

export function swap(pool: Pool, isSale: boolean, amount: bigint): readonly Hex[] {
  if (pool.ticks === null) return swapV2(pool, isSale, amount)
  return [pool.ticks.swap(isSale === (pool.side === 0), amount)]
}

/** Gives units to a pair and lets it count them. */
export function donate(pool: Pool, x: bigint, y: bigint): Hex {
  pool.reserves = [pool.reserves[0] + x, pool.reserves[1] + y]
  return trader.donateV2(pool.address, ...inOrder(pool.side, x, y))
}

/** A pair's reserves after a swap of an exact input. */
export function swapped(
  [x, y]: readonly [bigint, bigint],
  isSale: boolean,
  amount: bigint,
): readonly [bigint, bigint] {
  const traded = amount * V2_FEE.numerator
  if (isSale) return [x + amount, y - (traded * y) / (x * V2_FEE.denominator + traded)]
  return [x - (traded * x) / (y * V2_FEE.denominator + traded), y + amount]
}

function swapV2(pool: Pool, isSale: boolean, amount: bigint): readonly Hex[] {
  if (amount === 0n) return []
  pool.reserves = swapped(pool.reserves, isSale, amount)
  return [trader.swapExactInV2(pool.address, isSale === (pool.side === 0), amount, V2_FEE)]
}

function fill(pool: Pool, depth: number, which: number): Hex {
  const [x, y] = pool.reserves
  const [dx, planned] = sizes.pairOf({ ...pool.of, usd: pool.usd }, pool.other, depth)
  const dy = x === 0n ? planned : (dx * y) / x
  const minted = x === 0n ? root(dx * dy) - 1000n : least((dx * pool.shares) / x, (dy * pool.shares) / y)
  pool.shares += x === 0n ? minted + 1000n : minted
  pool.reserves = [x + dx, y + dy]
  pool.held.set(which, { amount: minted, ticks: null })
  return trader.addV2(pool.address, ...inOrder(pool.side, dx, dy))
}

function mint(pool: Pool, of: TickPool, depth: number, [low, high]: Band, which: number): Hex {
  const spacing = of.tickSpacing
  const ticks = [low, high].map(times => sizes.snap(sizes.tickOf(rawPrice(pool, pool.usd * times)), spacing))
  const [lower, to] = ticks.toSorted((a, b) => a - b) as [number, number]
  const upper = to === lower ? lower + spacing : to
  const paidIn = pool.side === 0 ? pool.other : { ...pool.of, usd: pool.usd }
  const liquidity = sizes.liquidityOf(paidIn, rawPrice(pool, pool.usd), depth)
  pool.held.set(which, { amount: liquidity, ticks: [lower, upper] })
  return of.add(lower, upper, liquidity)
}

function take(pool: Pool, { amount, ticks }: Held): readonly Hex[] {
  if (amount === 0n) return []
  if (ticks !== null && pool.ticks !== null) return [pool.ticks.remove(...ticks, amount)]
  const [x, y] = pool.reserves
  pool.reserves = [x - (x * amount) / pool.shares, y - (y * amount) / pool.shares]
  pool.shares -= amount
  return [trader.removeV2(pool.address, amount)]
}

const lower = (address: string): Hex => address.toLowerCase() as Hex

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

function root(value: bigint): bigint {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2))
  for (;;) {
    const next = (guess + value / guess) / 2n
    if (next >= guess) return guess
    guess = next
  }
}
