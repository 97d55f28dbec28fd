/** Reads what pools hold of their tokens at a block, as the tokens report it. */
import type { PoolBalances } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import { callData, encodeAddress, uintAt, wordCount } from './abiWords.ts'

type Asked = { readonly address: Address; readonly token0: Address; readonly token1: Address }

/** A pool is left out when one of its tokens does not return a number. */
export async function readBalances(
  rpc: ChainRpc,
  pools: readonly Asked[],
  { hash }: BlockRef,
  signal: AbortSignal,
): Promise<readonly PoolBalances[]> {
  const balanceOf = async (token: Address, holder: Address): Promise<bigint | null> => {
    const data = callData(SELECTOR['balanceOf(address)'], encodeAddress(holder))
    const answer = await rpc.call(token, data, hash, signal)
    return answer === null || wordCount(answer) < 1 ? null : uintAt(answer, 0)
  }
  const read = await Promise.all(
    pools.map(async ({ address, token0, token1 }): Promise<PoolBalances | null> => {
      const [of0, of1] = await Promise.all([balanceOf(token0, address), balanceOf(token1, address)])
      return of0 === null || of1 === null ? null : { pool: address, balances: [of0, of1] }
    }),
  )
  return read.filter(each => each !== null)
}
