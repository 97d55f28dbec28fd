/** A node as a reference clock: its announcements of blocks, and of swaps of some pools, over a connection of its own. */
import { toEventSelector } from 'viem'

/** Swaps of v2, of v3 and Algebra, and of Pancake's v3. */
const SWAPS = [
  'Swap(address,uint256,uint256,uint256,uint256,address)',
  'Swap(address,address,int256,int256,uint160,uint128,int24)',
  'Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)',
].map(signature => toEventSelector(signature))

type Head = { readonly hash: string }
type Log = {
  readonly transactionHash: string
  readonly blockHash: string
  readonly address: string
  readonly removed?: boolean
}
export type Reference = {
  onHead(hash: string): void
  /** A swap of one of the pools. */
  onSwap(log: Log): void
}

const SUBSCRIPTIONS = [
  { id: 1, params: ['newHeads'] },
  { id: 2, params: ['logs', { topics: [SWAPS] }] },
]

export function hearNode(wsUrl: string, pools: ReadonlySet<string>, to: Reference): WebSocket {
  const socket = new WebSocket(wsUrl)
  socket.addEventListener('open', () => {
    for (const { id, params } of SUBSCRIPTIONS)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params }))
  })
  socket.addEventListener('message', ({ data }) => {
    const { params } = JSON.parse(String(data)) as { params?: { result: Head | Log } }
    if (params === undefined) return
    const { result } = params
    if ('hash' in result) to.onHead(result.hash)
    else if (result.removed !== true && pools.has(result.address.toLowerCase())) to.onSwap(result)
  })
  return socket
}
