/**
 * `npm run bench:latency [-- seconds]`: from the moment a node announces a block to the moment its swaps are records
 * at a subscriber, over five local chains with their traders, a service in a separate process, other subscribers and
 * a stream of quotes. Commit, fan-out and socket are included. Fails when a goal is missed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, type Client, type TokenList } from '@assay/sdk'
import { startWorld, worldConfig, type WorldChain } from '@assay/world'
import { issueKeyIn, loadConfig } from '../packages/server/commands/config.ts'
import { freePort, startChildService } from '../packages/server/service/testing/childService.ts'
import { until } from '../packages/server/service/testing/until.ts'
import { quantile } from './harness.ts'

const GOALS = { p50Ms: 50, p99Ms: 250 } as const
const SUBSCRIBERS = 100
const QUOTES_PER_SECOND = 50
/** Clients represent other machines, so they yield to the service. */
const LOAD_PRIORITY = 10
/** The first seconds are discarded: the service has just started. */
const WARM_UP_S = 10
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
  const latenciesMs = await measure(client, tokens)
  if (others.exitCode !== null) throw new Error('a subscriber beside the measured one was turned away')
  others.disconnect()
  const [p50, p99] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)]
  console.log(`swaps at a subscriber  ${latenciesMs.length} in ${seconds} s, ${chainIds.length} chains`)
  console.log(`p50                    ${p50.toFixed(1)} ms, goal ≤ ${GOALS.p50Ms} ms`)
  console.log(`p99                    ${p99.toFixed(1)} ms, goal ≤ ${GOALS.p99Ms} ms`)
  console.log(`longest                ${Math.max(...latenciesMs).toFixed(1)} ms`)
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

async function measure(client: Client, tokens: Tokens): Promise<number[]> {
  const announcedMs = new Map<string, number>()
  const heads = world.chains.map(chain => hearHeads(chain, hash => announcedMs.set(hash, performance.now())))
  const ending = new AbortController()
  const { signal } = ending
  const quotes = ask(client, tokens, signal)
  const latenciesMs: number[] = []
  const startMs = performance.now() + WARM_UP_S * 1000
  const ended = setTimeout(() => ending.abort(), (WARM_UP_S + seconds) * 1000)
  for await (const { type, payload } of client.stream({ filter: { chain_ids: chainIds }, signal })) {
    if (type !== 'SWAP_OBSERVED' || payload.finality === 'orphaned') continue
    const seenMs = announcedMs.get(payload.block_hash)
    if (seenMs !== undefined && seenMs >= startMs) latenciesMs.push(performance.now() - seenMs)
  }
  clearTimeout(ended)
  const isCut = !signal.aborted
  ending.abort()
  for (const socket of heads) socket.close()
  await quotes
  if (isCut) throw new Error('the stream ended before its time')
  return latenciesMs
}

/** The node's own announcement, over a connection independent of the service. */
function hearHeads({ wsUrl }: WorldChain, onHead: (hash: string) => void): WebSocket {
  const socket = new WebSocket(wsUrl)
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
  )
  socket.addEventListener('message', ({ data }) => {
    const { params } = JSON.parse(String(data)) as { params?: { result: { hash: string } } }
    if (params !== undefined) onHead(params.result.hash)
  })
  return socket
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
