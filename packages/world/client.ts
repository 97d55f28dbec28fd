/**
 * A client of a local node: viem's public, wallet and anvil actions over one URL, and `send`, which resolves when the
 * transaction is in a block and has succeeded.
 */
import { setTimeout } from 'node:timers/promises'
import {
  type Address,
  createTestClient,
  type Hex,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  walletActions,
} from 'viem'
import { nodeTransport } from './nodeTransport.ts'

export type Client = ReturnType<typeof connect>

export type Call = {
  /** Any account: one that is not anvil's own is impersonated. Omitted: anvil's first account. */
  readonly from?: Address
  /** Omitted, `data` is init code. */
  readonly to?: Address
  readonly data?: Hex
  /** Omitted, anvil estimates it, which runs the transaction several times. */
  readonly gas?: bigint
}

/** Anvil's first account, from its well-known test mnemonic. */
export const DEV_ACCOUNT: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

/** Gas paid by impersonated accounts. */
const BALANCE_WEI = 10n ** 24n
/** A batch of several hundred swaps that cross thousands of ticks runs for seconds. */
const REQUEST_TIMEOUT_MS = 120_000
/** A node that mines immediately is polled quickly, one that mines every second less and less often. */
const RECEIPT_POLL_MS = { first: 5, most: 200 }
/** Longer than any block time of a world. */
const RECEIPT_TIMEOUT_MS = 60_000

export function connect(url: string) {
  return createTestClient({
    mode: 'anvil',
    transport: nodeTransport(url, REQUEST_TIMEOUT_MS),
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
}

/** Throws when the transaction reverts. */
export async function send(client: Client, call: Call): Promise<TransactionReceipt> {
  const from = call.from ?? DEV_ACCOUNT
  if (from !== DEV_ACCOUNT) {
    await client.impersonateAccount({ address: from })
    await client.setBalance({ address: from, value: BALANCE_WEI })
  }
  const hash = await client.sendTransaction({
    account: from,
    chain: null,
    to: call.to ?? null,
    ...(call.data === undefined ? {} : { data: call.data }),
    ...(call.gas === undefined ? {} : { gas: call.gas }),
  })
  const receipt = await receiptOf(client, hash)
  if (receipt.status === 'reverted')
    throw new Error(`transaction ${hash} from ${from} to ${call.to} reverted`)
  return receipt
}

/**
 * Polls until the receipt is available. viem's own waiting polls only after a new block, and a node that mines per
 * transaction may not produce one.
 */
export async function receiptOf(client: Client, hash: Hex): Promise<TransactionReceipt> {
  const deadlineMs = performance.now() + RECEIPT_TIMEOUT_MS
  for (let waitMs = RECEIPT_POLL_MS.first; ; waitMs = Math.min(waitMs * 2, RECEIPT_POLL_MS.most)) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`transaction ${hash} is in no block after ${RECEIPT_TIMEOUT_MS} ms`)
    }
    await setTimeout(waitMs)
  }
}
