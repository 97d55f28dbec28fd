/**
 * `npm run bench:latency [-- seconds]`: from the moment a node announces a block to the moment its swaps are records
 * at a subscriber, over five local chains with their traders, a service in a separate process, other subscribers and
 * a stream of quotes. Commit, fan-out and socket are included. Fails when a goal is missed. Prints the head lag of
 * OpenChainBench beside it (`headLag.ts`).
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type Client, type TokenList } from '@assay/sdk'
import { startWorld, worldConfig } from '@assay/world'
import { issueKeyIn, loadConfig } from '../packages/server/commands/config.ts'
import { freePort, startChildService } from '../packages/server/endToEnd/testing/childService.ts'
import { until } from '../packages/server/endToEnd/testing/until.ts'
import { quantile } from './harness.ts'
import { HeadLag, headLagLines, type HeadLagResult, SAMPLE_MS } from './headLag.ts'
import { hearNode } from './referenceNode.ts'

const GOALS = { p50Ms: 50, p99Ms: 250 } as const
const SUBSCRIBERS = 100
const QUOTES_PER_SECOND = 50
/** Clients represent other machines, so they yield to the service. */
const LOAD_PRIORITY = 10
/** The first seconds are discarded: the service has just started. */
const WARM_UP_S = 10
/** The last sample of a whole number of slots is taken before the end. */
const MARGIN_MS = 100
/** With fewer samples, a 99th percentile rests on two or three of them. */
const LEAST_SAMPLES = 200
const ROOMY = {
  units: 1_000_000,
  window_ms: 1000,
  burst: 1_000_000,
  stream_connections: 1000,
  enrolments_per_day: 1,
}

const seconds = Number(process.argv[2] ?? 60)
const folder = mkdtempSync(join(tmpdir(), 'assay-latency-'))
const world = await startWorld({ folder: join(folder, 'world'), onProgress: line => console.log(line) })
const chainIds = world.chains.map(({ plan }) => plan.chainId).sort((a, b) => a - b)
const file = join(folder, 'assay.yaml')
// JSON is YAML.
writeFileSync(
  file,
  JSON.stringify(worldConfig(world, { port: await freePort(), database: join(folder, 'assay.db') })),
)
const child = await startChildService(file)
try {
  const scopes = ['read', 'stream', 'admin'] as const
  const { key } = await issueKeyIn(loadConfig(file, {}), { name: 'latency', consumer: 'latency', scopes })
  const client = createClient({ baseUrl: child.url, apiKey: key })
  await client.admin.setLimits('latency', ROOMY)
  const tokens = await until('a price on every chain', () => pricedTokens(client), 120_000)
  const others = await openOthers(child.url, key)
  const { latenciesMs, headLag } = await measure(client, tokens)
  if (others.exitCode !== null) throw new Error('a subscriber beside the measured one was turned away')
  others.disconnect()
  const [p50, p99] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)]
  console.log(`swaps at a subscriber  ${latenciesMs.length} in ${seconds} s, ${chainIds.length} chains`)
  console.log(`p50                    ${p50.toFixed(1)} ms, goal ≤ ${GOALS.p50Ms} ms`)
  console.log(`p99                    ${p99.toFixed(1)} ms, goal ≤ ${GOALS.p99Ms} ms`)
  console.log(`longest                ${Math.max(...latenciesMs).toFixed(1)} ms`)
  for (const line of headLagLines(headLag)) console.log(line)
  const isMet = latenciesMs.length >= LEAST_SAMPLES && p50 <= GOALS.p50Ms && p99 <= GOALS.p99Ms
  if (latenciesMs.length < LEAST_SAMPLES) console.log(`Fewer than ${LEAST_SAMPLES} swaps say nothing.`)
  console.log(isMet ? 'met' : 'MISSED')
  if (!isMet) process.exitCode = 1
} finally {
  await child.stop()
  await world.close()
  rmSync(folder, { recursive: true, force: true })
}

type Tokens = TokenList['tokens']

/** Tokens with a price; null while a chain has none. */
async function pricedTokens(client: Client): Promise<Tokens | null> {
  const lists = await Promise.all(chainIds.map(chain_id => client.fetchTokens({ chain_id, limit: 100 })))
  const priced = lists.map(({ tokens }) => tokens.filter(({ state }) => state === 'PRICED'))
  return priced.every(tokens => tokens.length > 0) ? priced.flat() : null
}

/** Pools with an address of their own, in which swaps are seen by it. */
async function plainPools(client: Client): Promise<ReadonlySet<string>> {
  const found: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await client.fetchPools({ limit: 1000, ...(cursor === undefined ? {} : { cursor }) })
    for (const { pool_address, manager_address } of page.pools)
      if (manager_address === undefined) found.push(pool_address)
    cursor = page.next_cursor
  }
  return new Set(found)
}

type Measured = { readonly latenciesMs: readonly number[]; readonly headLag: HeadLagResult }

async function measure(client: Client, tokens: Tokens): Promise<Measured> {
  const announcedMs = new Map<string, number>()
  const headLag = new HeadLag(chainIds)
  const pools = await plainPools(client)
  const startMs = performance.now() + WARM_UP_S * 1000
  const nodes = world.chains.map(({ wsUrl, plan: { chainId } }) =>
    hearNode(wsUrl, pools, {
      onHead: hash => announcedMs.set(hash, performance.now()),
      onSwap({ transactionHash, blockHash }) {
        const sentMs = announcedMs.get(blockHash) ?? performance.now()
        if (sentMs >= startMs) headLag.sent(chainId, transactionHash, sentMs)
      },
    }),
  )
  const ending = new AbortController()
  const { signal } = ending
  const quotes = ask(client, tokens, signal)
  const latenciesMs: number[] = []
  const sampled = setTimeout(() => {
    const every = setInterval(() => headLag.sample(), SAMPLE_MS)
    signal.addEventListener('abort', () => clearInterval(every))
  }, WARM_UP_S * 1000)
  const ended = setTimeout(() => ending.abort(), (WARM_UP_S + seconds) * 1000 + MARGIN_MS)
  for await (const { type, payload } of client.stream({ filter: { chain_ids: chainIds }, signal })) {
    if (type !== 'SWAP_OBSERVED' || payload.finality === 'orphaned') continue
    const nowMs = performance.now()
    if (nowMs >= startMs) headLag.received(payload.chain_id, payload.transaction_hash, nowMs)
    const seenMs = announcedMs.get(payload.block_hash)
    if (seenMs !== undefined && seenMs >= startMs) latenciesMs.push(nowMs - seenMs)
  }
  clearTimeout(sampled)
  clearTimeout(ended)
  const isCut = !signal.aborted
  ending.abort()
  for (const socket of nodes) socket.close()
  await quotes
  if (isCut) throw new Error('the stream ended before its time')
  return { latenciesMs, headLag: headLag.result(performance.now()) }
}

/** Resolves when all of them are connected. */
async function openOthers(url: string, key: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('otherSubscribers.ts', import.meta.url))
  const stream = `${url.replace(/^http/, 'ws')}/v1/stream`
  const others = fork(script, [stream, key, String(SUBSCRIBERS), JSON.stringify(chainIds)])
  setPriority(others.pid as number, LOAD_PRIORITY)
  const [said] = (await Promise.race([once(others, 'message'), once(others, 'exit')])) as [unknown]
  if (said !== 'open') throw new Error(`the other subscribers ended with ${String(said)}`)
  return others
}

async function ask(client: Client, tokens: Tokens, signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const { chain_id, token_address } = tokens[turn % tokens.length] as Tokens[0]
    await client.quoteToken({ chain_id, token_address })
    await new Promise(resolve => setTimeout(resolve, 1000 / QUOTES_PER_SECOND))
  }
}
