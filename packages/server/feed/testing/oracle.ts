/**
 * The oracle of R-fold-5 for a feed: what a fresh index of the final chain holds. It is read from the node itself by
 * number and range, with none of our own code, and compared with what a consumer has after all it went through.
 */
import { expect } from 'vitest'
import type { Hex } from '../../ops/hex.ts'
import type { Consumer } from './consumer.ts'
import type { LocalChain, RpcBlock } from './localChain.ts'

type RpcLog = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly logIndex: Hex
  readonly transactionHash: Hex
  readonly blockNumber: Hex
}

/** Fails unless the consumer's last blocks, all by default, and their logs are those of the chain up to its head. */
export async function expectFinalChain(
  consumer: Consumer,
  chain: LocalChain,
  { about = '', blocks: wanted = Number.POSITIVE_INFINITY } = {},
): Promise<void> {
  const held = consumer.chain.slice(-wanted)
  const first = held[0]?.number ?? 0
  const last = Number(await chain.rpc<Hex>('eth_blockNumber'))
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const [blocks, logs] = await Promise.all([
    chain.batch<RpcBlock>(
      'eth_getBlockByNumber',
      numbers.map(number => [`0x${number.toString(16)}`, false]),
    ),
    chain.rpc<readonly RpcLog[]>('eth_getLogs', { fromBlock: `0x${first.toString(16)}`, toBlock: 'latest' }),
  ])
  const truth = blocks.map(({ number, hash, parentHash }) => ({
    hash,
    parentHash,
    logs: logs.filter(log => log.blockNumber === number).map(contentOf),
  }))
  const ours = held.map(block => ({
    hash: block.hash,
    parentHash: block.parentHash,
    logs: block.logs.map(contentOf),
  }))
  expect(ours, about).toEqual(truth)
}

type Content = Pick<RpcLog, 'address' | 'topics' | 'data' | 'transactionHash'> & {
  readonly logIndex: Hex | number
}

const contentOf = ({ address, topics, data, logIndex, transactionHash }: Content): string =>
  JSON.stringify([address, topics, data, Number(logIndex), transactionHash])
