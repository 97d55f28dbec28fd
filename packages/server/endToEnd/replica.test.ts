/** An API node on a read replica: it may be behind, and reports it; it waits or refuses, and never skips. */
import { createClient } from '@assay/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../commands/config.ts'
import { type ChainNode, type Service, startApiNode, startChainNode } from '../service.ts'
import { claimStore } from '../store/openStore.ts'
import { execute, type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { ask } from './testing/answer.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { CHAIN_ID } from './testing/plan.ts'
import { isSwap } from './testing/record.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { writeConfig } from './testing/testService.ts'
import { until } from './testing/until.ts'
import { QUIET } from '../ops/testing/quiet.ts'

let chain: TestChain
let pair: Hex
let primary: PostgresServer
let replica: PostgresServer
let replicaUrl: string
let writer: ChainNode
/** On the primary, and on the replica. */
let near: Service
let far: Service
beforeAll(async () => {
  ;[chain, primary] = await Promise.all([startTestChain(), startPostgres()])
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  await execute(primary.urlOf('postgres'), 'CREATE DATABASE assay')
  const store = primary.urlOf('assay')
  // With the schema in place, so that the replica has it from the start.
  await (await claimStore(store))()
  await primary.stop()
  const conninfo = `host=${new URL(store.replace('@/', '@host/')).searchParams.get('host')} user=assay`
  const copied = { primary_conninfo: conninfo, hot_standby: 'on' }
  const starting = startPostgres(copied, primary.data, 'standby.signal')
  await primary.start()
  replica = await starting
  replicaUrl = replica.urlOf('assay')
  const config = loadConfig(writeConfig(chain, { name: 'replica', store }), {})
  writer = await startChainNode({ config, logLevel: 'silent', log: QUIET })
  near = await startApiNode({ config, logLevel: 'silent', log: QUIET })
  await until('the replica has the secrets', async () => {
    return (await execute(replicaUrl, "SELECT 1 FROM assay.meta WHERE name = 'secret/cursor'")).length === 1
  })
  const behind = loadConfig(writeConfig(chain, { name: 'far', store, replica: replicaUrl }), {})
  far = await startApiNode({ config: behind, logLevel: 'silent', log: QUIET })
  const first = await clientAt(far)
  await chain.untilMining('a price at the replica', async () => {
    const wanted = { chain_id: CHAIN_ID, token_address: chain.token('MOTH') }
    return (await first.quoteToken(wanted).catch(() => null))?.state === 'PRICED'
  })
})
afterAll(async () => {
  await Promise.all([near?.close(), far?.close()])
  await writer?.close()
  await chain?.close()
  await replica?.dispose()
  await primary?.dispose()
})

const clientAt = async (node: Service) =>
  createClient({
    baseUrl: node.url,
    apiKey: (await near.access.issue('replica', 'replica', ['read', 'stream'], null)).key,
  })
const trade = (usd: number) => chain.run(chain.sellV2(pair, 'MOTH', usd))
const filter = { chain_ids: [CHAIN_ID] }
/** PostgreSQL may replay some more after the request, so this waits until it has stopped. */
const pause = async () => {
  await execute(replicaUrl, 'SELECT pg_wal_replay_pause()')
  await until('the replay paused', async () => {
    const rows = await execute(replicaUrl, 'SELECT pg_get_wal_replay_pause_state() AS state')
    return (rows[0] as { state: string }).state === 'paused'
  })
}
const headOfReplica = async (): Promise<number> => {
  const rows = await execute(replicaUrl, 'SELECT next - 1 AS head FROM assay.head')
  return Number((rows[0] as { head: string }).head)
}
const resume = () => execute(replicaUrl, 'SELECT pg_wal_replay_resume()')

describe('a node with a stopped replica', () => {
  it('refuses a cursor it has not reached, without a reset, and resumes once it has', async () => {
    const [here, there] = [await clientAt(near), await clientAt(far)]
    const start = (await here.createSession()).stream.head_sequence
    const heard = new Heard(here, { filter, resumeCursor: await cursorAfter(here, CHAIN_ID, start) })
    await until('the replica up to here', () => far.seen() >= start)
    await pause()
    // A record may have come between the session and the pause.
    const reached = await headOfReplica()
    const { hash } = await trade(300)
    await until('the trade at the primary', () =>
      heard.records.filter(isSwap()).some(({ payload }) => payload.block_hash === hash),
    )
    await heard.close()
    const last = heard.sequences.at(-1) as number
    // Its data is older, and marked so.
    const wanted = { chain_id: CHAIN_ID, token_address: chain.token('MOTH') }
    const [now, then] = [await here.quoteToken(wanted), await there.quoteToken(wanted)]
    expect(now.state === 'PRICED' && now.as_of.stream_sequence).toBeGreaterThan(reached)
    expect(then.state !== 'PENDING' && then.as_of.stream_sequence).toBeLessThanOrEqual(reached)
    const snapshot = await there.fetchPools({ chain_id: CHAIN_ID })
    expect(snapshot.snapshot_sequence).toBeLessThan(last)

    // The cursor is good, the node is late: come back. A cursor of what it does have is served at once.
    const cursor = await cursorAfter(there, CHAIN_ID, last)
    const refused = new Heard(there, { filter, resumeCursor: cursor })
    expect(await refused.untilOver()).toMatchObject({ kind: 'CLOSED', code: 1013 })
    expect(refused.records).toEqual([])
    const ready = await until('the late node not ready', async () => {
      const answer = await ask(`${far.url}/readyz`)
      return answer.status === 503 && answer
    })
    expect(JSON.stringify(ready.body)).toContain('behind the log')
    expect((await ask(`${near.url}/readyz`)).status).toBe(200)

    // A waiting client is admitted as soon as the replica continues, and misses nothing in between.
    const fromSnapshot = new Heard(there, {
      filter,
      resumeCursor: await cursorAfter(there, CHAIN_ID, snapshot.snapshot_sequence),
    })
    const waiting = new Heard(there, { filter, resumeCursor: cursor })
    const again = await trade(200)
    await resume()
    await Promise.all(
      [waiting, fromSnapshot].map(stream =>
        until('the second trade at the replica', () =>
          stream.records.filter(isSwap()).some(({ payload }) => payload.block_hash === again.hash),
        ),
      ),
    )
    await Promise.all([waiting.close(), fromSnapshot.close()])
    expect(waiting.sequences).toEqual(waiting.sequences.map((_, at) => last + 1 + at))
    const first = snapshot.snapshot_sequence + 1
    expect(fromSnapshot.sequences).toEqual(fromSnapshot.sequences.map((_, at) => first + at))
    await until('ready again', async () => (await ask(`${far.url}/readyz`)).status === 200)
  })

  it('a database that is no copy of the store is refused as its replica', async () => {
    await execute(primary.urlOf('postgres'), 'CREATE DATABASE other')
    const other = primary.urlOf('other')
    await (await claimStore(other))()
    const store = primary.urlOf('assay')
    const config = loadConfig(writeConfig(chain, { name: 'foreign', store, replica: other }), {})
    await expect(startApiNode({ config, logLevel: 'silent', log: QUIET })).rejects.toMatchObject({
      code: 'STORE_FOREIGN',
    })
  })
})
