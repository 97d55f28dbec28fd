/** Processes that write one chain in turn: when one is killed, suspended or stopped, another takes over. */
import { createClient } from '@assay/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../commands/config.ts'
import { checkDatabase } from '../commands/database.ts'
import { type Service, startApiNode } from '../service.ts'
import { execute, type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { type ChildService, clientOf, startChildService } from './testing/childService.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { Nomad } from './testing/nomad.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { isSwap, isTokenUpsert, recordIdOf } from './testing/record.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { writeConfig } from './testing/testService.ts'
import { until } from './testing/until.ts'
import { QUIET } from '../ops/testing/quiet.ts'

let chain: TestChain
let server: PostgresServer
let store: string
let config: string
let pair: Hex
let api: Service
let heard: Heard
const children = new Map<number, ChildService>()
beforeAll(async () => {
  ;[chain, server] = await Promise.all([startTestChain(), startPostgres()])
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
})
afterAll(async () => {
  await chain?.close()
  await server?.dispose()
})
beforeEach(async () => {
  store = await server.createDatabase()
  config = writeConfig(chain, { name: store.slice(-20, -10), store })
  api = await startApiNode({ config: loadConfig(config, {}), logLevel: 'silent', log: QUIET })
})
afterEach(async () => {
  await heard?.close()
  for (const child of children.values()) await child.kill()
  children.clear()
  await api?.close()
})

async function startWriter(): Promise<ChildService> {
  const child = await startChildService(config, {}, ['--role', 'chain', '--chain', `${CHAIN_ID}`])
  children.set(child.pid, child)
  return child
}

/** Who writes the chain now, by its process. */
async function writer(): Promise<ChildService | undefined> {
  const [lease] = (await execute(store, 'SELECT owner FROM assay.seat')) as { owner: string }[]
  return children.get(Number(lease?.owner.split(':')[1]))
}

/** Two candidates, one of which writes, and a price received from it. */
async function startBoth(): Promise<ChildService> {
  await Promise.all([startWriter(), startWriter()])
  const client = await clientOf(config, api.url, 'witness')
  heard = new Heard(client, {
    filter: { chain_ids: [CHAIN_ID] },
    resumeCursor: await cursorAfter(client, CHAIN_ID, 0),
  })
  await chain.untilMining('a price', async () => heard.records.some(isTokenUpsert(chain.token('MOTH'))))
  return until('a writer', writer)
}

const swapsOf = (hash: string) =>
  heard.records.filter(isSwap()).filter(({ payload }) => payload.block_hash === hash).length

/** A trade, until it is received. */
async function tradeHeard(usd: number): Promise<void> {
  const { hash } = await chain.run(chain.sellV2(pair, 'MOTH', usd))
  await until(`the trade of ${usd} USD received`, () => swapsOf(hash) === 1)
}

/** Nothing lost, nothing twice, and the store is sound. */
async function expectWhole(): Promise<void> {
  expect(heard.outcome).toBeNull()
  expect(heard.sequences).toEqual(heard.sequences.map((_, at) => at + 1))
  const ids = heard.records.map(recordIdOf).filter(id => id !== null)
  expect(new Set(ids).size).toBe(ids.length)
  const swaps = heard.records
    .filter(isSwap())
    .map(({ payload }) => `${payload.block_hash} ${payload.log_index}`)
  expect(new Set(swaps).size).toBe(swaps.length)
  expect((await checkDatabase(loadConfig(config, {}))).faults).toEqual([])
}

describe('the writer of a chain', () => {
  it('killed, is succeeded by its standby', async () => {
    const first = await startBoth()
    await tradeHeard(300)
    await first.kill()
    children.delete(first.pid)
    await tradeHeard(200)
    expect((await writer())?.pid).not.toBe(first.pid)
    await expectWhole()
  })

  it('stopped, is succeeded too; when it resumes it can no longer commit, and stands by', async () => {
    const first = await startBoth()
    await tradeHeard(300)
    first.pause()
    await tradeHeard(200)
    const second = await until('another writer', writer)
    expect(second.pid).not.toBe(first.pid)
    first.wake()
    // Both see these blocks; only one may say so.
    for (const usd of [90, 80, 70]) await tradeHeard(usd)
    expect((await writer())?.pid).toBe(second.pid)
    // It survived: it is now the standby.
    await second.kill()
    children.delete(second.pid)
    await tradeHeard(60)
    expect((await writer())?.pid).toBe(first.pid)
    await expectWhole()
  })
})

describe('a rolling restart', () => {
  it('replaces every process one by one, and a client that moves with it misses nothing', async () => {
    const key = (await api.access.issue('nomad', 'nomad', ['read', 'stream'], null)).key
    const startApi = async () => {
      const child = await startChildService(config, {}, ['--role', 'api', '--port', '0'])
      children.set(child.pid, child)
      return child
    }
    const [old, replaced] = [
      await Promise.all([startWriter(), startWriter(), startApi(), startApi()]),
      await Promise.all([startWriter(), startWriter(), startApi(), startApi()]),
    ]
    const nodes = () => [...old, ...replaced].filter(child => child.url !== '' && children.has(child.pid))
    const client = createClient({ baseUrl: api.url, apiKey: key })
    heard = new Heard(client, {
      filter: { chain_ids: [CHAIN_ID] },
      resumeCursor: await cursorAfter(client, CHAIN_ID, 0),
    })
    const nomad = new Nomad({ create: createClient, apiKey: key, nodes, urlOf: ({ url }) => url })
    await chain.untilMining('a price', async () => heard.records.some(isTokenUpsert(chain.token('MOTH'))))
    for (const [at, child] of old.entries()) {
      children.delete(child.pid)
      expect(await child.stop()).toBe(0)
      await tradeHeard(10 + at)
    }
    expect(replaced.map(({ pid }) => pid)).toContain((await writer())?.pid)
    await expectWhole()
    const head = heard.sequences.at(-1) as number
    await until('the client at the head', () => nomad.last >= head)
    await nomad.close()
    const sequences = nomad.records.map(({ stream_sequence }) => stream_sequence)
    expect(sequences).toEqual(sequences.map((_, at) => at + 1))
  })
})
