import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import type { ProofRules } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { Secret } from '../../ops/secret.ts'
import { fetchBlock } from './block.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import type { LogEntry } from '../answers/entry.ts'
import type { VerifiedBlock } from '../feed.ts'
import { closeAll, endpointsOf, follow, forwardClock, keep } from '../testing/following.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  mine,
  mineTransactions,
  type RpcBlock,
  startLocalChain,
} from '../testing/localChain.ts'
import { changing, pass, type Rule, type RpcProxy, startRpcProxy, without } from '../testing/rpcProxy.ts'

type RpcLog = Pick<LogEntry, 'address' | 'topics' | 'data' | 'logIndex' | 'transactionHash'> & {
  readonly blockHash: Hex
  readonly blockNumber: Hex
  readonly removed: boolean
}
type RpcReceipt = { readonly logs: readonly RpcLog[]; readonly status: Hex; readonly transactionHash: Hex }

const { signal } = new AbortController()
let chain: LocalChain
let proxy: RpcProxy
let endpoint: Endpoint
let block: RpcBlock

beforeAll(async () => {
  chain = await startLocalChain()
  await mineTransactions(chain, EVERY_KIND)
  block = await latest(chain)
  proxy = await startRpcProxy(chain.anvil.url)
})
afterAll(async () => {
  await proxy.close()
  await chain.close()
})
afterEach(closeAll)

/** The block as the feed would get it from a node that answers by this rule. */
function fetchBy(rule: Rule, which: Hex | number = block.hash, proof?: ProofRules): Promise<VerifiedBlock> {
  proxy.rule = rule
  const url = new Secret(proxy.url)
  const identity = chain.config()
  endpoint = keep(new Endpoint({ name: 'liar', url, identity, proof, clock: systemClock, log: () => {} }))
  return fetchBlock(endpoint, which, signal)
}

const inReceipts = (change: (receipts: readonly RpcReceipt[]) => unknown): Rule =>
  changing<readonly RpcReceipt[]>('eth_getBlockReceipts', change)

/** Changes every log, keeping the receipts as they are otherwise. */
const inLogs = (change: (logs: readonly RpcLog[]) => readonly unknown[]): Rule =>
  inReceipts(receipts => receipts.map(receipt => ({ ...receipt, logs: change(receipt.logs) })))

const FOREIGN_HASH = `0x${'77'.repeat(32)}`

describe('a block is refused', () => {
  const lies: readonly (readonly [what: string, rule: Rule, reason: RegExp])[] = [
    [
      'its last log is dropped',
      inReceipts(r => withLast(r, 3, l => ({ ...l, logs: l.logs.slice(0, -1) }))),
      /root/,
    ],
    ['a log in the middle is dropped', inLogs(logs => logs.filter((_, at) => at !== 1)), /carries the index/],
    [
      'a log comes twice',
      inLogs(logs => logs.flatMap((log, at) => (at === 0 ? [log, log] : [log]))),
      /carries the index/,
    ],
    ['the data of a log differs', inLogs(logs => logs.map(log => ({ ...log, data: '0x01' }))), /root/],
    [
      'a log has another address',
      inLogs(logs => logs.map(log => ({ ...log, address: `0x${'66'.repeat(20)}` }))),
      /root/,
    ],
    [
      'a log lost a topic',
      inLogs(logs => logs.map(log => ({ ...log, topics: log.topics.slice(1) }))),
      /root/,
    ],
    [
      'a failed transaction is declared successful',
      inReceipts(r => r.map(x => ({ ...x, status: '0x1' }))),
      /root/,
    ],
    ['a receipt is dropped', inReceipts(r => r.slice(0, -1)), /5 transactions and 4 receipts/],
    ['all receipts are dropped', inReceipts(() => []), /5 transactions and 0 receipts/],
    ['receipts are permuted', inReceipts(r => r.toReversed()), /another transaction/],
    [
      'a receipt names another transaction',
      inReceipts(r => r.map(x => ({ ...x, transactionHash: FOREIGN_HASH }))),
      /another transaction/,
    ],
    [
      'a log names another transaction',
      inLogs(logs => logs.map(log => ({ ...log, transactionHash: FOREIGN_HASH }))),
      /another transaction/,
    ],
    [
      'logs are of another block',
      inLogs(logs => logs.map(log => ({ ...log, blockHash: FOREIGN_HASH }))),
      /another block/,
    ],
    [
      'logs are of another number',
      inLogs(logs => logs.map(log => ({ ...log, blockNumber: '0x99' }))),
      /another block/,
    ],
    ['a log is marked removed', inLogs(logs => logs.map(log => ({ ...log, removed: true }))), /removed/],
    ['a field is not hex', inLogs(logs => logs.map(log => ({ ...log, data: 'zz' }))), /data is not hex/],
    ['a receipt is no object', inReceipts(r => r.map(() => null)), /object/],
    [
      'another block is answered',
      changing<RpcBlock>('eth_getBlockByHash', x => ({ ...x, hash: FOREIGN_HASH })),
      /requested block/,
    ],
    [
      'a header field is too short',
      changing<RpcBlock>('eth_getBlockByHash', x => ({ ...x, parentHash: '0x12' })),
      /parentHash is not 32 bytes/,
    ],
    [
      'a number is too large',
      changing<RpcBlock>('eth_getBlockByHash', x => ({ ...x, number: `0x${'f'.repeat(16)}` })),
      /number is not a number/,
    ],
  ]
  it.each(lies)('when %s', async (_what, rule, reason) => {
    await expect(fetchBy(rule)).rejects.toMatchObject({
      code: 'BLOCK_REFUSED',
      endpoint: 'liar',
      message: expect.stringMatching(reason),
    })
  })

  it('when a block of another number is answered', async () => {
    const rule = changing<RpcBlock>('eth_getBlockByNumber', (x, { params }) =>
      params[0] === '0x0' ? x : { ...x, number: '0x99' },
    )
    await expect(fetchBy(rule, 1)).rejects.toMatchObject({ code: 'BLOCK_REFUSED' })
  })

  it('when bare logs do not give its bloom', async () => {
    const missing = without('eth_getBlockReceipts', 'eth_getTransactionReceipt')
    const empty = changing('eth_getLogs', () => [])
    const rule: Rule = (call, ...rest) => (call.method === 'eth_getLogs' ? empty : missing)(call, ...rest)
    await expect(fetchBy(rule)).rejects.toMatchObject({
      code: 'BLOCK_REFUSED',
      message: expect.stringMatching(/bloom/),
    })
  })
})

describe('a block passes', () => {
  it('with proof when everything fits, by hash and by number', async () => {
    const byHash = await fetchBy(pass)
    expect(byHash).toMatchObject({ hash: block.hash, proof: 'receipts', logs: { length: 9 } })
    expect(await fetchBlock(endpoint, byHash.number, signal)).toEqual(byHash)
  })

  it('with proof from its transactions when a node has no receipts by block, which are requested once', async () => {
    const proven = await fetchBy(without('eth_getBlockReceipts'))
    expect(proven).toMatchObject({ proof: 'receipts', logs: { length: 9 } })
    proxy.calls.length = 0
    await fetchBlock(endpoint, block.hash, signal)
    expect(proxy.calls.map(({ method }) => method).sort()).toEqual([
      'eth_getBlockByHash',
      ...EVERY_KIND.map(() => 'eth_getTransactionReceipt'),
    ])
  })

  it('without proof from a node that has no receipts at all, which are requested once', async () => {
    const logged = await fetchBy(without('eth_getBlockReceipts', 'eth_getTransactionReceipt'))
    expect(logged).toMatchObject({ proof: 'none', logs: { length: 9 } })
    proxy.calls.length = 0
    await fetchBlock(endpoint, block.hash, signal)
    expect(proxy.calls.map(({ method }) => method).sort()).toEqual(['eth_getBlockByHash', 'eth_getLogs'])
  })

  it('without proof when the configuration says that neither header nor receipts prove anything', async () => {
    const rule = changing<RpcBlock>('eth_getBlockByHash', header => ({
      ...header,
      receiptsRoot: FOREIGN_HASH,
    }))
    expect(await fetchBy(rule, block.hash, { header: 'opaque', receipts: 'none' })).toMatchObject({
      proof: 'none',
      logs: { length: 9 },
    })
    await expect(fetchBy(rule)).rejects.toMatchObject({ code: 'BLOCK_REFUSED' })
  })

  it('in upper case, and is lower case from then on', async () => {
    const rule = inLogs(logs =>
      logs.map(log => ({ ...log, address: log.address.toUpperCase().replace('0X', '0x') })),
    )
    expect((await fetchBy(rule)).logs[0]?.address).toBe(`0x${'10'.repeat(20)}`)
  })

  it('when a node announces it a moment before it serves it, and is unknown when it never does', async () => {
    let nulls = 2
    const late: Rule = (call, fetchAnswer) =>
      call.method === 'eth_getBlockReceipts' && nulls-- > 0 ? { result: null } : fetchAnswer()
    expect(await fetchBy(late)).toMatchObject({ proof: 'receipts' })
    const never = changing('eth_getBlockReceipts', () => null)
    await expect(fetchBy(never)).rejects.toMatchObject({ code: 'BLOCK_UNKNOWN', endpoint: 'liar' })
  })
})

describe('a feed whose node drops a log', () => {
  const lying = inReceipts(r =>
    r.length === 0 ? r : withLast(r, r.length - 2, x => ({ ...x, logs: x.logs.slice(0, -1) })),
  )

  it('delivers no block until the node has the whole of it: a GAP with the head below', async () => {
    const { clock, forward } = forwardClock()
    proxy.rule = pass
    await mine(chain)
    const below = await latest(chain)
    const consumer = await follow(chain, { clock, config: { endpoints: endpointsOf(proxy.url) } })
    await consumer.untilTip(below)
    proxy.rule = lying
    proxy.calls.length = 0
    await mineTransactions(chain, EVERY_KIND)
    await mine(chain, 2)
    const tries = () => proxy.calls.filter(({ method }) => method === 'eth_getBlockReceipts').length
    await expect.poll(tries).toBeGreaterThan(4)
    forward(16_000)
    await consumer.until('GAP', ({ health }) => health?.status === 'GAP')
    // On a busy machine the head has grown old besides.
    expect(consumer.health?.reasons.filter(reason => reason !== 'HEAD_OLD')).toEqual([
      'BEHIND',
      'BLOCK_REFUSED',
    ])
    expect(consumer.health).toMatchObject({
      head: { block_hash: below.hash },
      processed: { block_hash: below.hash },
    })
    expect(consumer.tip?.hash).toBe(below.hash)
    proxy.rule = pass
    await consumer.untilTip(await latest(chain))
    expect(consumer.chain.map(({ logs }) => logs.length)).toEqual([0, 9, 0, 0])
  })

  it('takes the block from another node', async () => {
    proxy.rule = lying
    const consumer = await followOver(proxy.url, chain.anvil.url)
    await mineTransactions(chain, EVERY_KIND)
    await consumer.untilTip(await latest(chain))
    expect(consumer.tip?.logs).toHaveLength(9)
  })

  it('is DEGRADED with NO_PROOF when no node has receipts', async () => {
    proxy.rule = without('eth_getBlockReceipts', 'eth_getTransactionReceipt')
    const consumer = await followOver(proxy.url)
    await consumer.until('NO_PROOF', ({ health }) => health?.reasons.includes('NO_PROOF') === true)
    expect(consumer.health?.status).toBe('DEGRADED')
    expect(consumer.tip?.proof).toBe('none')
  })
})

const followOver = (...urls: readonly string[]) =>
  follow(chain, { config: { endpoints: endpointsOf(...urls) } })

function withLast(receipts: readonly RpcReceipt[], at: number, change: (receipt: RpcReceipt) => RpcReceipt) {
  return receipts.map((receipt, index) => (index === at ? change(receipt) : receipt))
}
