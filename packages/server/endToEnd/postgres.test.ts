/** The whole service on PostgreSQL: it serves, is killed, and resumes where its log ended. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { type ChildService, clientOf, freePort, startChildService } from './testing/childService.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { isSwap, isTokenUpsert, recordIdOf } from './testing/record.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { writeConfig } from './testing/testService.ts'

let chain: TestChain
let server: PostgresServer
let child: ChildService | null = null
beforeAll(async () => {
  ;[chain, server] = await Promise.all([startTestChain(), startPostgres()])
})
afterEach(async () => {
  await child?.kill()
})
afterAll(async () => {
  await chain?.close()
  await server?.dispose()
})

it('killed with -9 and restarted, it loses nothing and publishes nothing twice', async () => {
  const store = await server.createDatabase()
  const config = writeConfig(chain, { name: 'postgres', port: await freePort(), store })
  child = await startChildService(config)
  const client = await clientOf(config, child.url, 'resuming')
  const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  const filter = { chain_ids: [CHAIN_ID] }
  const hear = async (after: number, what: string, isDone: (heard: Heard) => boolean) => {
    const heard = new Heard(client, { filter, resumeCursor: await cursorAfter(client, CHAIN_ID, after) })
    await chain.untilMining(what, async () => heard.outcome !== null || isDone(heard))
    await heard.close()
    return heard.records
  }
  const heard = await hear(0, 'a price', each => each.records.some(isTokenUpsert(chain.token('MOTH'))))
  await chain.run(chain.sellV2(pair, 'MOTH', 300))
  await child.kill()
  await chain.run(chain.sellV2(pair, 'MOTH', 200))
  child = await startChildService(config)
  const last = heard.at(-1)?.stream_sequence ?? 0
  heard.push(...(await hear(last, 'both swaps', each => each.records.filter(isSwap()).length === 2)))
  const sequences = heard.map(record => record.stream_sequence)
  expect(sequences).toEqual(sequences.map((_, at) => at + 1))
  const ids = heard.map(recordIdOf).filter(id => id !== null)
  expect(new Set(ids).size).toBe(ids.length)
  expect(await child.stop()).toBe(0)
})
