/**
 * A sale of 1,000 USD worth of a token that always reverts: the contract itself reports what it would have paid. All of it and
 * half of it are offered to each pool, so that the best of all in one or a half in each of two is known.
 */
import { sizes, trader, traderAbi } from '@assay/world'
import { decodeAbiParameters, encodeFunctionData, slice } from 'viem'
import type { Hex } from '../testChain.ts'
import { inOrder, type Pool, swapped, V2_FEE } from './pool.ts'

const SALE = 1000
const WHOLE_BPS = 10_000n

export type Offer = { readonly pool: Pool; readonly share: number; readonly before: bigint }
/** A question whose answer is read from the block. */
export type Question = { readonly call: Hex; readonly ask: Offer }
export type Paid = { readonly offer: Offer; readonly out: bigint }

/** Of a token of these dollars, of which a share may not arrive. */
export function offersOf(pools: readonly Pool[], usd: number, taxBps = 0n): readonly Question[] {
  return pools.flatMap(pool =>
    [1, 0.5].map(share => {
      const amount = sizes.unitsOf({ ...pool.of, usd }, SALE * share)
      const args = [saleOf(pool, amount, taxBps)] as const
      const call = encodeFunctionData({ abi: traderAbi, functionName: 'probeOne', args })
      return { call, ask: { pool, share, before: pool.reserves[1] } }
    }),
  )
}

function saleOf(pool: Pool, amount: bigint, taxBps: bigint): Hex {
  const isZeroForOne = pool.side === 0
  if (pool.ticks !== null) return pool.ticks.swap(isZeroForOne, amount)
  if (taxBps === 0n) return trader.swapExactInV2(pool.address, isZeroForOne, amount, V2_FEE)
  // As routers sell a token with a tax: what is asked for is what the arriving part buys.
  const arriving = amount - (amount * taxBps) / WHOLE_BPS
  const out = pool.reserves[1] - swapped(pool.reserves, true, arriving)[1]
  return trader.swapV2(pool.address, isZeroForOne ? { in0: amount, out1: out } : { in1: amount, out0: out })
}

/** What `probeOne` threw: whether the sale went through, and what it returned. */
export function paid({ pool, before }: Offer, reason: Hex): bigint {
  const [isOk, result] = decodeAbiParameters([{ type: 'bool' }, { type: 'bytes' }], slice(reason, 4))
  if (!isOk) return 0n
  const words = [{ type: 'int256' }, { type: 'int256' }] as const
  const [first, second] = decodeAbiParameters(words, result)
  const [, y] = inOrder(pool.side, first, second)
  return pool.ticks === null ? before - y : -y
}

/** Dollars a token that is worth `usd`: all into the best pool, or a half into each of the best two. */
export function bestOf(
  offers: readonly Paid[],
  usd: number,
  worthOf: (asset: { readonly symbol: string; readonly usd: number }) => number,
): number {
  const dollars = (share: number) =>
    offers
      .filter(({ offer }) => offer.share === share)
      .map(({ offer: { pool }, out }) => (Number(out) / 10 ** pool.other.decimals) * worthOf(pool.other))
      .toSorted((a, b) => b - a)
  const [whole = 0] = dollars(1)
  const [first = 0, second = 0] = dollars(0.5)
  return (Math.max(whole, first + second) / SALE) * usd
}
