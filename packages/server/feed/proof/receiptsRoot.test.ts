import * as fc from 'fast-check'
import { concat, numberToHex, toRlp } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../ops/hex.ts'
import { bloomOf } from './bloom.ts'
import { toLogEntry, toReceiptEntry } from '../answers/entry.ts'
import { encodeReceipt, receiptsRoot } from './receiptsRoot.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'

type RpcReceipt = { readonly type: Hex; readonly status: Hex; readonly logs: readonly object[] }

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.close())

const receiptsOf = (hash: Hex): Promise<RpcReceipt[]> => chain.rpc('eth_getBlockReceipts', hash)

const rootOf = (receipts: readonly object[]): Hex => receiptsRoot(receipts.map(toReceiptEntry))

describe('receiptsRoot', () => {
  it('is the empty trie for a block without transactions', () => {
    // keccak256(rlp('')), the root of every empty trie (yellow paper, appendix D).
    expect(receiptsRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  })

  it('equals the one of mainnet block 46147, whose only receipt has a state root', () => {
    const receipt = {
      type: '0x0',
      root: '0x96a8e009d2b88b1483e6941e6812e32263b05683fac202abc622a3e31aed1957',
      cumulativeGasUsed: '0x5208',
      logsBloom: `0x${'00'.repeat(256)}`,
      logs: [],
      blockHash: '0x4e3a3754410177e6937ef1f84bba68ea139e8d1a2258c5f85db9f1cd715a1bdd',
      blockNumber: '0xb443',
      transactionHash: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060',
      transactionIndex: '0x0',
    }
    expect(rootOf([receipt])).toBe('0xfe2bf2a941abf41d72637e5b91750332a30283efd40c424dc522b77e6f0ed8c4')
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

/** With a whole number of bytes. */
const even = (quantity: Hex): Hex => (quantity.length % 2 === 0 ? quantity : `0x0${quantity.slice(2)}`)

describe('encodeReceipt', () => {
  const hex = (minLength: number, maxLength = minLength) =>
    fc.uint8Array({ minLength, maxLength }).map((each): Hex => `0x${Buffer.from(each).toString('hex')}`)
  const log = fc.record({
    address: hex(20),
    topics: fc.array(hex(32), { maxLength: 4 }),
    // Short, around the lengths at which RLP writes a length in another way, and a single byte that stands for itself.
    data: fc.oneof(hex(0, 3), hex(54, 58), hex(253, 258), fc.constantFrom('0x00', '0x7f', '0x80')),
  })

  it('is the RLP that viem writes, whatever the logs', () => {
    fc.assert(
      fc.property(
        fc.record({
          type: fc.nat({ max: 0x7f }),
          status: fc.nat({ max: 1 }),
          gas: fc.bigInt(1n, 1n << 70n),
          logsBloom: hex(256),
          logs: fc.array(log, { maxLength: 6 }),
        }),
        ({ type, status, gas, logsBloom, logs }) => {
          const place = {
            blockHash: `0x${'01'.repeat(32)}`,
            blockNumber: '0x1',
            transactionHash: `0x${'02'.repeat(32)}`,
            transactionIndex: '0x0',
          }
          const receipt = toReceiptEntry({
            ...place,
            type: numberToHex(type),
            status: numberToHex(status),
            cumulativeGasUsed: numberToHex(gas),
            logsBloom,
            logs: logs.map((each, at) => ({ ...place, ...each, logIndex: numberToHex(at) })),
          })
          const list = toRlp([
            status === 0 ? '0x' : '0x01',
            even(numberToHex(gas)),
            logsBloom,
            logs.map(({ address, topics, data }) => [address, topics, data]),
          ])
          const bytes = Buffer.from(encodeReceipt(receipt)).toString('hex')
          expect(`0x${bytes}`).toBe(type === 0 ? list : concat([numberToHex(type, { size: 1 }), list]))
        },
      ),
    )
  })
})

describe('bloomOf', () => {
  it('is the header’s for all logs of a block, and not without them', async () => {
    await mineTransactions(chain, EVERY_KIND)
    const block = await latest(chain)
    const logs = (await receiptsOf(block.hash)).flatMap(receipt => receipt.logs.map(toLogEntry))
    expect(bloomOf(logs)).toBe(block.logsBloom)
    expect(bloomOf([])).not.toBe(block.logsBloom)
  })
})
