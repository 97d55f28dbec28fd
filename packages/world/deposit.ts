/**
 * A transaction that a chain of the OP stack takes over from its parent chain: type 0x7e, unsigned, paid for
 * elsewhere. Anvil accepts one unchanged, but its miners may include it twice, because it has no nonce: a miner that
 * starts a block while another is being made sees it in the pool again. It is therefore mined only on explicit
 * request, on a chain that makes no blocks automatically.
 */
import { type Address, concatHex, type Hex, keccak256, type TransactionReceipt } from 'viem'
import { type Call, type Client, receiptOf } from './client.ts'

/** The sender of the parent chain's report about itself, in every block. */
const DEPOSITOR: Address = '0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001'

/** Mines it in a block of its own, together with any waiting transactions. Throws when the transaction reverts. */
export async function sendDeposit(
  client: Client,
  { from = DEPOSITOR, to, data = '0x', gas }: Call & { readonly to: Address; readonly gas: bigint },
): Promise<TransactionReceipt> {
  const { hash: head } = await client.getBlock({ blockTag: 'latest' })
  const deposit = {
    type: '0x7e',
    from,
    to,
    data,
    gas: `0x${gas.toString(16)}`,
    mint: '0x0',
    isSystemTx: false,
    sourceHash: keccak256(concatHex([head, data])),
  }
  await client.setAutomine(false)
  const hash = (await client.request({ method: 'eth_sendTransaction', params: [deposit] } as never)) as Hex
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)
  const receipt = await receiptOf(client, hash)
  if (receipt.status === 'reverted') throw new Error(`deposit ${hash} to ${to} reverted`)
  return receipt
}
