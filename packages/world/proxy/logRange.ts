/**
 * The number of blocks an `eth_getLogs` covers. Tags are resolved by the node; a filter by block hash covers one
 * block.
 */
import type { RpcAnswer, RpcCall } from './rule.ts'

type Filter = { readonly fromBlock?: string; readonly toBlock?: string; readonly blockHash?: string }

export async function logRangeOf(call: RpcCall, ask: (call: RpcCall) => Promise<RpcAnswer>): Promise<number> {
  const { fromBlock = 'latest', toBlock = 'latest', blockHash } = (call.params[0] ?? {}) as Filter
  if (blockHash !== undefined || fromBlock === toBlock) return 1
  const numberOf = async (block: string): Promise<number> => {
    if (block.startsWith('0x')) return Number(block)
    const { result } = await ask({ id: 0, method: 'eth_getBlockByNumber', params: [block, false] })
    return Number((result as { readonly number?: string } | null)?.number ?? 0)
  }
  return (await numberOf(toBlock)) - (await numberOf(fromBlock)) + 1
}
