import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import type { ChainConfig, ProofRules } from '../../config/config.ts'
import { bareChain } from '../../config/testing/bareConfig.ts'
import type { Hex } from '../../ops/hex.ts'
import { Secret } from '../../ops/secret.ts'
import { Endpoint } from '../endpoints/endpoint.ts'
import { EndpointSet } from '../endpoints/endpointSet.ts'
import { openFeed } from '../openFeed.ts'
import { Settlement } from './settlement.ts'
import { Consumer } from '../testing/consumer.ts'
import { closeAll, keep } from '../testing/following.ts'
import { makeSettlingChain, type Wire } from '../testing/oddBlocks.ts'

const LENGTH = 12
const GENESIS: Hex = `0x${'aa'.repeat(32)}`
const { signal } = new AbortController()

type Call = { readonly id: number; readonly method: string; readonly params: readonly [string] }
type Block = Awaited<ReturnType<typeof makeSettlingChain>>[number]
let blocks: readonly Block[]
/** How many of the blocks the node has. */
let height: number
/** Its answer about receipts. */
let lie: (receipts: readonly Wire[], at: number) => readonly Wire[]
let url: string

beforeAll(async () => {
  blocks = await makeSettlingChain(LENGTH)
})
beforeEach(async () => {
  height = LENGTH
  lie = receipts => receipts
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = JSON.parse(String(Buffer.concat(chunks))) as Call
      response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: answerTo(call) }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  keep({
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(closeAll)

function answerTo({ method, params: [which] }: Call): unknown {
  if (method === 'eth_chainId') return '0xa86a'
  if (which === '0x0') return { hash: GENESIS }
  const has = blocks.slice(0, height)
  const at = which === 'latest' ? height - 1 : has.findIndex(({ block }) => isAsked(block, which))
  const found = has[at]
  if (found === undefined) return null
  return method === 'eth_getBlockReceipts' ? lie(found.receipts, at) : found.block
}

/** The tag is that of the last block that was settled. */
const isAsked = ({ hash, number }: Wire, which: string): boolean =>
  which === hash || which === number || (which === 'finalized' && number === tip()['settledHeight'])

const tip = (): Wire => blocks[height - 1]?.block as Wire
const hashOf = (at: number): Hex => blocks[at]?.block['hash'] as Hex
const numberOf = (at: number): number => Number(blocks[at]?.block['number'])

const config = (): ChainConfig =>
  bareChain({
    chainId: 43_114,
    name: 'settling',
    endpoints: [{ name: 'node', url: new Secret(url) }],
    genesisHash: GENESIS,
    blockTimeMs: 100,
  })

function prove(at: number, proof?: ProofRules) {
  const identity = { chainId: 43_114, genesisHash: GENESIS }
  const options = { name: 'node', url: new Secret(url), identity, proof, clock: systemClock, log: () => {} }
  const endpoints = new EndpointSet([keep(new Endpoint(options))], systemClock)
  const hashAt = (number: number): Hex | null => {
    const above = number - numberOf(0)
    return above < height ? (hashOf(above) ?? null) : null
  }
  return new Settlement(endpoints).prove({ number: numberOf(at), hash: hashOf(at) }, hashAt, signal)
}

describe('a block that is settled later', () => {
  it('is proven by the header that settled it, with the others of that header', async () => {
    const settled = await prove(1)
    expect(settled?.map(({ number, proof, logs }) => [number, proof, logs.length])).toEqual([
      [numberOf(0), 'receipts', 3],
      [numberOf(1), 'receipts', 3],
    ])
    expect((await prove(0))?.map(({ hash }) => hash)).toEqual([hashOf(0), hashOf(1)])
    expect((await prove(5))?.map(({ hash, logs }) => [hash, logs.length])).toEqual([[hashOf(5), 0]])
  })

  it('is not proven before', async () => {
    height = 3
    expect(await prove(1)).toBeNull()
    height = 4
    expect(await prove(1)).toHaveLength(2)
  })

  it('is not proven where a log is missing in any block of that header', async () => {
    lie = (receipts, at) =>
      at === 0 ? receipts.map((each, n) => (n === 1 ? { ...each, logs: [] } : each)) : receipts
    expect(await prove(1)).toEqual([])
    lie = (receipts, at) => (at === 0 ? receipts.map(each => ({ ...each, status: '0x0' })) : receipts)
    expect(await prove(1)).toEqual([])
  })

  it('is not proven where headers are opaque', async () => {
    expect(await prove(1, { header: 'opaque', receipts: 'standard' })).toEqual([])
  })
})

describe('a feed with one endpoint', () => {
  it('delivers blocks without a proof, and finalizes them once they are settled', async () => {
    height = 5
    const feed = keep(await openFeed({ chain: config(), clock: systemClock, resume: null }))
    const consumer = keep(new Consumer(feed, { commits: true, history: [] }))
    await consumer.until('the head', each => each.tip?.hash === hashOf(4))
    height = LENGTH
    await consumer.until('the next head', each => each.tip?.hash === hashOf(LENGTH - 1))
    expect(consumer.tip?.proof).toBe('none')
    await consumer.until('final', ({ finalized }) => finalized?.hash === hashOf(LENGTH - 3))
  })

  it('does not finalize a block with undelivered parts', async () => {
    height = 5
    lie = (receipts, at) => (at === 6 ? receipts.map(each => ({ ...each, logs: [] })) : receipts)
    const feed = keep(await openFeed({ chain: config(), clock: systemClock, resume: null }))
    const consumer = keep(new Consumer(feed, { commits: true, history: [] }))
    await consumer.until('the head', each => each.tip?.hash === hashOf(4))
    height = LENGTH
    await consumer.until('the next head', each => each.tip?.hash === hashOf(LENGTH - 1))
    await consumer.until('final', ({ finalized }) => finalized?.hash === hashOf(5))
  })
})
