import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../ops/config.ts'
import { bloomOf } from './bloom.ts'
import type { RawLog } from './feed.ts'
import { receiptsRoot } from './receiptsRoot.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mineTransactions,
  startLocalChain,
} from './testing/localChain.ts'

type RpcReceipt = {
  readonly type: Hex
  readonly status: Hex
  readonly cumulativeGasUsed: Hex
  readonly logsBloom: Hex
  readonly logs: readonly RawLog[]
}

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.close())

const receiptsOf = (hash: Hex): Promise<RpcReceipt[]> => chain.rpc('eth_getBlockReceipts', hash)

const rootOf = (receipts: readonly RpcReceipt[]): Hex =>
  receiptsRoot(
    receipts.map(receipt => ({
      ...receipt,
      type: Number(receipt.type),
      outcome: { status: Number(receipt.status) },
    })),
  )

describe('receiptsRoot', () => {
  it('is the empty trie for a block without transactions', () => {
    // keccak256(rlp('')), the root of every empty trie (yellow paper, appendix D).
    expect(receiptsRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  it('is the one of mainnet block 46147, whose only receipt has a state root', () => {
    const receipt = {
      type: 0,
      outcome: { stateRoot: '0x96a8e009d2b88b1483e6941e6812e32263b05683fac202abc622a3e31aed1957' },
      cumulativeGasUsed: '0x5208',
      logsBloom: `0x${'00'.repeat(256)}`,
      logs: [],
    } as const
    expect(receiptsRoot([receipt])).toBe('0xfe2bf2a941abf41d72637e5b91750332a30283efd40c424dc522b77e6f0ed8c4')
  })

  it('is the header’s for legacy and typed transactions, failed ones and several logs each', async () => {
    await mineTransactions(chain, EVERY_KIND)
    const block = await latest(chain)
    const receipts = await receiptsOf(block.hash)
    expect(receipts.map(({ type, status }) => [type, status])).toEqual([
      ['0x2', '0x1'],
      ['0x0', '0x1'],
      ['0x2', '0x0'],
      ['0x1', '0x1'],
      ['0x2', '0x1'],
    ])
    expect(receipts.flatMap(({ logs }) => logs)).toHaveLength(9)
    expect(rootOf(receipts)).toBe(block.receiptsRoot)
  })

  it('is the header’s past 128 receipts, where the keys of the trie grow to two bytes', async () => {
    await mineTransactions(
      chain,
      Array.from({ length: 130 }, () => ({ to: LOGGER, gas: '0xc350' })),
    )
    const block = await latest(chain)
    const receipts = await receiptsOf(block.hash)
    expect(receipts).toHaveLength(130)
    expect(rootOf(receipts)).toBe(block.receiptsRoot)
    expect(rootOf(receipts.toReversed())).not.toBe(block.receiptsRoot)
    expect(rootOf(receipts.slice(0, -1))).not.toBe(block.receiptsRoot)
  })
})

describe('bloomOf', () => {
  it('is the header’s for all logs of a block, and not without them', async () => {
    await mineTransactions(chain, EVERY_KIND)
    const block = await latest(chain)
    const logs = (await receiptsOf(block.hash)).flatMap(receipt => receipt.logs)
    expect(bloomOf(logs)).toBe(block.logsBloom)
    expect(bloomOf([])).not.toBe(block.logsBloom)
  })
})
