/** Two API nodes and a writer on one PostgreSQL: whatever is asked, it does not matter which node is asked. */
import { createClient } from '@assay/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../commands/config.ts'
import type { Scope } from '../access/access.ts'
import { type ChainNode, type Service, startApiNode, startChainNode } from '../service.ts'
import { execute, type PostgresServer, startPostgres } from '../store/testing/postgresServer.ts'
import { ask } from './testing/answer.ts'
import { cursorAfter, Heard } from './testing/heard.ts'
import { CHAIN_ID, planWith, token } from './testing/plan.ts'
import { isSwap } from './testing/record.ts'
import { startTestChain, type TestChain } from './testing/testChain.ts'
import { writeConfig } from './testing/testService.ts'
import { until } from './testing/until.ts'
import { openCluster } from '../store/postgres/clusterStore.ts'
import { ChainDown } from '../worker/chainService.ts'
import { StoreRpcClient } from '../cluster/storeRpc.ts'
import { QUIET } from '../ops/testing/quiet.ts'

const WITH = {
  tokens: [token(0x51, 'STRAY', 2)],
  pools: [{ deployment: 'uniswap-v2', pair: ['USDC', 'STRAY'], usd: 400_000 }],
} as const

let chain: TestChain
let server: PostgresServer
let store: string
let config: ReturnType<typeof loadConfig>
let writer: ChainNode
let here: Service
let there: Service
beforeAll(async () => {
  ;[chain, server] = await Promise.all([startTestChain(planWith(WITH)), startPostgres()])
  store = await server.createDatabase()
  config = loadConfig(writeConfig(chain, { name: 'nodes', store, tokens: ['LARK', 'MOTH'] }), {})
  ;[writer, here, there] = await Promise.all([
    startWriter(),
    startApiNode({ config, logLevel: 'silent', log: QUIET }),
    startApiNode({ config, logLevel: 'silent', log: QUIET }),
  ])
  await chain.untilMining('a price', async () => (await quoteAt(there, 'MOTH'))?.state === 'PRICED')
})
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()])
  await writer?.close()
  await chain?.close()
  await server?.dispose()
})

const startWriter = () => startChainNode({ config, logLevel: 'silent', log: QUIET })
/** Issued at one node, whichever it is used at. */
const keyOf = async (consumer: string, scopes: readonly Scope[] = ['read', 'stream']) =>
  here.access.issue(consumer, consumer, scopes, null)
const clientAt = async (node: Service, consumer: string, scopes?: readonly Scope[]) =>
  createClient({ baseUrl: node.url, apiKey: (await keyOf(consumer, scopes)).key })
/** By a consumer of its own, so that waiting costs nobody's quota; null while it is refused. */
let consumers = 0
const quoteAt = async (node: Service, symbol: string, query: object = {}) => {
  const client = await clientAt(node, `consumer-${++consumers}`)
  const wanted = { chain_id: CHAIN_ID, token_address: chain.token(symbol), ...query }
  return client.quoteToken(wanted).catch(() => null)
}
const trade = (usd: number) => chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDT', 'MOTH'), 'MOTH', usd))
/** A stream without a cursor begins when it opens, at an unannounced moment: trades continue until all have received one. */
const untilAllHear = (streams: readonly Heard[]) =>
  until('a record on every stream, or its end', async () => {
    await trade(11)
    return streams.every(({ records, outcome }) => records.length > 0 || outcome !== null)
  })

describe('access', () => {
  it('a session of one node is valid at the other, until it is ended at either', async () => {
    const { key } = await keyOf('session')
    const opened = await ask(`${here.url}/v1/session`, { method: 'POST', key })
    const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] as string
    const headers = { cookie, origin: new URL(there.url).origin }
    expect((await fetch(`${there.url}/v1/session`, { headers })).status).toBe(200)
    expect((await fetch(`${there.url}/v1/session`, { method: 'DELETE', headers })).status).toBe(204)
    expect((await fetch(`${here.url}/v1/session`, { headers })).status).toBe(401)
  })

  it('a key revoked at one node ends its streams at every node', async () => {
    const { key, keyId } = await keyOf('revoked')
    const streams = [here, there].map(
      node =>
        new Heard(createClient({ baseUrl: node.url, apiKey: key }), { filter: { chain_ids: [CHAIN_ID] } }),
    )
    await untilAllHear(streams)
    expect(await here.access.revoke(keyId)).toBe(true)
    for (const stream of streams) expect(await stream.untilOver()).toMatchObject({ code: 1008 })
    for (const node of [here, there]) expect((await ask(`${node.url}/v1/chains`, { key })).status).toBe(401)
  })

  it('a consumer that uses both nodes at once gets its quota and burst once, and loses little of it', async () => {
    const { key } = await keyOf('spread')
    // A burst that is much against what a slow answer lets pass: two units a second.
    const [units, windowMs, burst] = [120, 60_000, 40]
    await execute(
      store,
      `UPDATE assay.consumer SET limits = '${JSON.stringify({ units, windowMs, burst, streamConnections: 20, enrolmentsPerDay: 1 })}' WHERE consumer = 'spread'`,
    )
    const startMs = performance.now()
    const earnedIn = (ms: number) => burst + (units * ms) / windowMs
    let [allowed, refused] = [0, 0]
    // The bucket began to fill before the first answer, and was empty after the last question that was refused.
    let [firstAnswerMs, lastRefusedMs] = [Number.POSITIVE_INFINITY, 0]
    const hammer = async (node: Service) => {
      // Long enough to earn some back, and until it was refused often enough to know.
      while (performance.now() - startMs < 3000 || refused < 20) {
        const askedMs = performance.now()
        const { status } = await ask(`${node.url}/v1/chains`, { key })
        firstAnswerMs = Math.min(firstAnswerMs, performance.now())
        if (status === 200) allowed += 1
        else if (status === 429) {
          refused += 1
          lastRefusedMs = Math.max(lastRefusedMs, askedMs)
        } else throw new Error(`status ${status}`)
      }
    }
    await Promise.all([here, here, there, there].map(hammer))
    expect(allowed).toBeLessThanOrEqual(Math.floor(earnedIn(performance.now() - startMs) * 1.05))
    expect(allowed).toBeGreaterThanOrEqual(Math.floor(earnedIn(lastRefusedMs - firstAnswerMs) * 0.9))
  })

  it('streams of a consumer are counted over both nodes', async () => {
    const { key } = await keyOf('streams')
    await execute(
      store,
      `UPDATE assay.consumer SET limits = '${JSON.stringify({ units: 600, windowMs: 60_000, burst: 60, streamConnections: 3, enrolmentsPerDay: 1 })}' WHERE consumer = 'streams'`,
    )
    const open = (node: Service) =>
      new Heard(createClient({ baseUrl: node.url, apiKey: key }), { filter: { chain_ids: [CHAIN_ID] } })
    const streams = [open(here), open(there), open(here)]
    await untilAllHear(streams)
    // What one node counts the other knows within seconds.
    const isLetIn = async (): Promise<boolean> => {
      const stream = open(there)
      await untilAllHear([stream])
      const { outcome } = stream
      await stream.close()
      if (outcome !== null) expect([outcome.kind, stream.records]).toEqual(['CLOSED', []])
      return outcome === null
    }
    await until('a fourth refused', async () => !(await isLetIn()))
    await streams[0]?.close()
    await until('a place at the other node', isLetIn)
    for (const stream of streams) await stream.close()
  })
})

describe('what only the writer knows', () => {
  it('an unknown token is enrolled from a node that does not write', async () => {
    expect((await quoteAt(there, 'STRAY'))?.state).toBe('PENDING')
    const quote = await chain.untilMining('its price', async () => {
      const answer = await quoteAt(there, 'STRAY')
      return answer?.state === 'PRICED' && answer
    })
    expect(quote.source).toBe('RETRIEVED')
    // And by the other node it is known at once.
    expect((await quoteAt(here, 'STRAY'))?.state).toBe('PRICED')
  })

  it('quotes are computed, and a pool is looked up', async () => {
    const client = await clientAt(there, 'computing')
    const narrowed = await chain.untilMining('a narrowed price', async () => {
      const quote = await quoteAt(there, 'LARK', { max_hops: 1 })
      return quote?.state === 'PRICED' && quote
    })
    expect(narrowed.source).toBe('COMPUTED')
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const asked = { chain_id: CHAIN_ID, deadline_ms: 10_000 }
    expect(await client.quotePool({ ...asked, pool_address: pool })).toMatchObject({ pool_address: pool })
    await expect(client.quotePool({ ...asked, pool_address: `0x${'d0'.repeat(20)}` })).rejects.toMatchObject({
      code: 'NOT_A_POOL',
    })
  })

  it('an operator’s change at one node applies at the other and to the writer', async () => {
    const adminAt = async (node: Service) =>
      (await clientAt(node, `admin-${++consumers}`, ['read', 'admin'])).admin
    const admin = await adminAt(here)
    const before = await (await adminAt(there)).fetchPolicy()
    const set = await admin.setPolicy({ max_hops: 2 })
    await until('the policy at the other node', async () => {
      return (await (await adminAt(there)).fetchPolicy()).policy_version === set.policy_version
    })
    await chain.untilMining('records under it', async () => {
      const quote = await quoteAt(there, 'MOTH')
      return quote?.state === 'PRICED' && quote.policy_version === set.policy_version
    })
    expect((await admin.setPolicy({})).policy_version).toBe(before.policy_version)
    await (await adminAt(there)).pauseChain({ chain_id: CHAIN_ID })
    await until('prices taken back', async () => (await quoteAt(here, 'MOTH'))?.state === 'UNPRICED')
    await admin.resumeChain({ chain_id: CHAIN_ID })
    await (await adminAt(there)).startBackfill({ chain_id: CHAIN_ID, from_block: 0 })
    await until('the back-fill is done', async () => {
      return (await (await adminAt(here)).fetchBackfills()).backfills.some(({ status }) => status === 'DONE')
    })
  })
})

describe('O9: requests from a neighbouring version', () => {
  let cluster: ReturnType<typeof openCluster>
  let letters: StoreRpcClient
  beforeAll(() => {
    cluster = openCluster(store)
    letters = new StoreRpcClient(cluster, 'a neighbour')
  })
  afterAll(async () => {
    letters.close()
    await cluster.close()
  })

  it('with an unknown method are to be retried, as if no process wrote the chain', async () => {
    await expect(letters.ask(CHAIN_ID, 'laterCall', [])).rejects.toBeInstanceOf(ChainDown)
    await expect(letters.ask(CHAIN_ID, 'constructor', [])).rejects.toBeInstanceOf(ChainDown)
  })

  it('with fewer or more fields than today’s are answered', async () => {
    const pool = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    const answer = { outcome: 'quote', quote: expect.stringContaining(pool) }
    for (const more of [[], [null, { later: true }]])
      expect(await letters.ask(CHAIN_ID, 'poolQuote', [pool, 5000, ...more])).toMatchObject(answer)
  })

  it('with a policy, which may lack fields of this version, are not applied: the store has what was set', async () => {
    const { policy_version } = await (await clientAt(here, 'policy', ['read', 'admin'])).admin.fetchPolicy()
    await letters.ask(CHAIN_ID, 'setPolicy', [{ max_hops: 1 }])
    expect(await quoteAt(there, 'LARK', { max_hops: 2 })).toMatchObject({ state: 'PRICED', policy_version })
  })
})

describe('W21: a client that moves between nodes', () => {
  it('resumes at the other where it left the one, without a gap or a repetition', async () => {
    const clients = [await clientAt(here, 'moving'), await clientAt(there, 'moving')]
    const first = (await clients[0]?.createSession({ chain_id: CHAIN_ID }))?.stream.head_sequence ?? 0
    const sequences: number[] = []
    for (let at = 0; at < 6; at++) {
      const client = clients[at % 2] as (typeof clients)[number]
      const resumeCursor = await cursorAfter(client, CHAIN_ID, sequences.at(-1) ?? first)
      const heard = new Heard(client, { filter: { chain_ids: [CHAIN_ID] }, resumeCursor })
      const { hash } = await trade(20 + at)
      await until('its trade', () =>
        heard.records.filter(isSwap()).some(each => each.payload.block_hash === hash),
      )
      await heard.close()
      expect(heard.outcome).toMatchObject({ kind: 'ENDED' })
      sequences.push(...heard.sequences)
    }
    expect(sequences).toEqual(sequences.map((_, at) => first + 1 + at))
  })
})

describe('a database that restarts', () => {
  it('ends no process: streams resume, and records from before and after are one log', async () => {
    const client = await clientAt(there, 'patient')
    const first = (await client.createSession()).stream.head_sequence
    const heard = new Heard(client, {
      filter: { chain_ids: [CHAIN_ID] },
      resumeCursor: await cursorAfter(client, CHAIN_ID, first),
    })
    const untilHeard = async (usd: number) => {
      const { hash } = await trade(usd)
      const isIt = (record: Heard['records'][number]) =>
        isSwap()(record) && record.payload.block_hash === hash
      await chain.untilMining(`the trade of ${usd} USD`, async () => heard.records.some(isIt))
    }
    await untilHeard(41)
    await server.stop()
    await server.start()
    await untilHeard(42)
    await heard.close()
    expect(heard.outcome).toMatchObject({ kind: 'ENDED' })
    expect(heard.sequences).toEqual(heard.sequences.map((_, at) => first + 1 + at))
    await until('letters are answered', async () => {
      return (await quoteAt(here, 'LARK', { max_hops: 1 }))?.state === 'PRICED'
    })
  })
})

describe('without a writer', () => {
  it('stored answers are served with their age; computed ones are refused', async () => {
    expect(writer.writes()).toEqual([CHAIN_ID])
    await writer.close()
    // At once: half a minute after its last report the feed is gone, and with it every price.
    expect((await quoteAt(there, 'MOTH'))?.state).toBe('PRICED')
    const client = await clientAt(there, 'alone')
    await until('the node notices', async () => {
      const ready = await ask(`${there.url}/readyz`, {})
      return (
        JSON.stringify(ready.body).includes(`no process writes chain ${CHAIN_ID}`) && ready.status === 200
      )
    })
    const wanted = { chain_id: CHAIN_ID, pool_address: chain.pool('uniswap-v2', 'USDT', 'MOTH') }
    await expect(client.quotePool(wanted)).rejects.toMatchObject({ code: 'RPC_UNAVAILABLE' })
    const { key } = await keyOf('operator', ['admin'])
    const body = JSON.stringify({ chain_id: CHAIN_ID })
    const headers = { 'content-type': 'application/json' }
    const asked = await ask(`${there.url}/v1/admin/backfill`, { method: 'POST', key, headers, body })
    expect([asked.status, asked.headers.get('retry-after')]).toEqual([503, '1'])
    writer = await startWriter()
    await chain.untilMining('computed again', async () => {
      return (await quoteAt(there, 'MOTH', { max_hops: 1 }))?.state === 'PRICED'
    })
  })
})
