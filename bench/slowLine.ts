/**
 * The node of `bigBlock.ts` behind a slow line, in a separate process, forked with the node's address. It sends its
 * own address when it listens. It keeps the receipts of blocks on request and sends them at a fixed pace, without
 * another call to the node. Blocks above the one it shows as the latest exist, but are not announced.
 */
import type { ServerResponse } from 'node:http'
import { resultText, sendPaced } from '../packages/server/feed/testing/pacedAnswer.ts'
import { startFaultProxy } from '../packages/world/proxy/faultProxy.ts'

/** Messages to this process, each answered by `done`. */
export type Order =
  | { readonly tell: 'keep'; readonly hash: string }
  /** The latest block from now on; null for the node's own. */
  | { readonly tell: 'show'; readonly number: number | null }

const BYTES_PER_SECOND = 2_000_000
const RECEIPTS = 'eth_getBlockReceipts'

const node = process.argv[2] as string
/** By the hash of their block. */
const kept = new Map<unknown, Buffer>()
const proxy = await startFaultProxy({ url: node, isRecording: false })
process.on('message', (order: Order) => {
  void obey(order).then(() => process.send?.('done'))
})
process.once('disconnect', () => process.exit())
show(null)
process.send?.(proxy.url)

async function obey(order: Order): Promise<void> {
  if (order.tell === 'show') show(order.number)
  else kept.set(order.hash, await resultText(node, RECEIPTS, [order.hash]))
}

function show(number: number | null): void {
  proxy.clear()
  proxy.add({
    method: RECEIPTS,
    params: ([hash]) => kept.has(hash),
    fault: {
      kind: 'handle',
      handle: ({ id, params: [hash] }, _, response) =>
        sendPaced(response as ServerResponse, id, kept.get(hash) as Buffer, BYTES_PER_SECOND),
    },
  })
  if (number !== null) proxy.add({ fault: { kind: 'tags', tags: { latest: number } } })
}
