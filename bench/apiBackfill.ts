/**
 * API latency while a chain back-fills at full speed, compared with the same load on the same service at rest: the
 * p99 of both and the delay of the service's event loop. Service, node and client are separate processes; node and
 * client are niced, so that neither takes the core the service needs. `npm run bench:api-backfill [swaps]`
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { loadavg, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { issueKeyIn, loadConfig } from '../packages/server/commands/config.ts'
import { freePort, startChildService } from '../packages/server/endToEnd/testing/childService.ts'
import { CHAIN_ID } from '../packages/server/endToEnd/testing/plan.ts'
import { startTestChain, type TestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { writeConfig } from '../packages/server/endToEnd/testing/testService.ts'
import { until } from '../packages/server/endToEnd/testing/until.ts'
import { median, quantile } from './harness.ts'

const GOAL = 2
/** In one transaction, hence one block: the size of a busy block on a real chain. */
const PER_BLOCK = 100
/** The niceness of the client and of the node: the service goes first. */
const NICE = 10
/** One request per interval, whatever happened to the previous one: a slow response does not delay the next request. */
const PACE_MS = 5
const IDLE_MS = 5000
const ROUNDS = 3
const PATIENCE_MS = 120_000

type Round = {
  readonly asked: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly loopMs: number
}

async function compare(url: string, file: string): Promise<void> {
  const key = await unlimitedKey(url, file)
  const asker = new Asker(url, key)
  await until('the token priced', async () => (await asker.once()) < PATIENCE_MS, PATIENCE_MS)
  await asker.during(pause(IDLE_MS))
  const idle: Round[] = []
  const busy: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    console.error(`round ${round + 1} of ${ROUNDS}`)
    idle.push(await asker.during(pause(IDLE_MS)))
    busy.push(await asker.during(backfill(url, key)))
  }
  asker.close()
  const middle = (rounds: readonly Round[], of: keyof Round) => median(rounds.map(round => round[of]))
  for (const [name, rounds] of [
    ['at rest', idle],
    ['back-filling', busy],
  ] as const)
    console.log(
      `${name.padEnd(14)} p50 ${middle(rounds, 'p50Ms').toFixed(2)} ms, p99 ${middle(rounds, 'p99Ms').toFixed(2)} ms, ` +
        `event loop p99 ${middle(rounds, 'loopMs').toFixed(1)} ms, ${rounds.reduce((sum, each) => sum + each.asked, 0)} requests`,
    )
  const ratio = middle(busy, 'p99Ms') / middle(idle, 'p99Ms')
  console.log(
    `p99 ${ratio.toFixed(2)} × idle; goal ≤ ${GOAL}: ${ratio <= GOAL ? 'met' : 'MISSED'} (load average ${loadavg()[0]?.toFixed(1)})`,
  )
  process.exitCode = ratio <= GOAL ? 0 : 1
}

/** The p99 since the last call. */
async function loopDelayMs(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return 1000 * Number(/^assay_nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1])
}

/** Waits until the whole past of the chain has been read. */
async function backfill(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const path = `${url}/v1/admin/backfill`
  const body = JSON.stringify({ chain_id: CHAIN_ID, from_block: 1 })
  const begun = await fetch(path, { method: 'POST', headers, body })
  if (begun.status >= 300) throw new Error(`no back-fill: ${begun.status} ${await begun.text()}`)
  for (;;) {
    await pause(100)
    const { backfills } = (await (await fetch(path, { headers })).json()) as {
      backfills: readonly { status: string; error: string | null }[]
    }
    const { status, error } = backfills[0] ?? { status: 'RUNNING', error: null }
    if (status === 'DONE') return
    if (status !== 'RUNNING') throw new Error(`the back-fill is ${status}: ${error}`)
  }
}

async function unlimitedKey(url: string, file: string): Promise<string> {
  const { key } = await issueKeyIn(loadConfig(file, {}), {
    name: 'bench',
    consumer: 'bench',
    scopes: ['read', 'admin'],
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const path = `${url}/v1/admin/consumers/bench`
  const { limits } = (await (await fetch(path, { headers })).json()) as { limits: object }
  const body = JSON.stringify({ ...limits, units: 1_000_000, burst: 1_000_000 })
  const set = await fetch(path, { method: 'PUT', headers, body })
  if (set.status !== 200) throw new Error(`no limits: ${set.status} ${await set.text()}`)
  return key
}

async function trade(on: TestChain, count: number): Promise<void> {
  const pair = on.pool('uniswap-v2', 'USDC', 'LARK')
  for (let done = 0; done < count; done += PER_BLOCK)
    await on.run(
      ...Array.from({ length: Math.min(PER_BLOCK, count - done) }, (_, at) =>
        on.sellV2(pair, at % 2 === 0 ? 'LARK' : 'USDC', 20),
      ),
    )
  await on.mine(12)
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').filter(Boolean).map(Number)
}

class Asker {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(url: string, key: string) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${key}` }
  }

  /** Milliseconds for a token quote; infinite when the response is not one. */
  once(): Promise<number> {
    const startMs = performance.now()
    const path = `/v1/quote/token/${CHAIN_ID}/${chain.token('LARK')}`
    return new Promise((resolve, reject) => {
      request(`${this.#url}${path}`, { agent: this.#agent, headers: this.#headers }, response => {
        response.resume().once('end', () => {
          const isGood = response.statusCode === 200
          resolve(isGood ? performance.now() - startMs : Number.POSITIVE_INFINITY)
        })
      })
        .once('error', reject)
        .end()
    })
  }

  /** Sends requests at its pace until `work` is done. */
  async during(work: Promise<unknown>): Promise<Round> {
    await loopDelayMs(this.#url)
    let isDone = false
    const ended = work.finally(() => {
      isDone = true
    })
    const times: Promise<number>[] = []
    while (!isDone) {
      times.push(this.once())
      await pause(PACE_MS)
    }
    await ended
    const all = await Promise.all(times)
    const loopMs = await loopDelayMs(this.#url)
    return { asked: all.length, p50Ms: median(all), p99Ms: quantile(all, 0.99), loopMs }
  }

  close(): void {
    this.#agent.destroy()
  }
}

const swaps = Number(process.argv[2] ?? 10_000)
const chain = await startTestChain()
try {
  for (const pid of childrenOf(process.pid)) setPriority(pid, NICE)
  console.error(`trading ${swaps} swaps`)
  await trade(chain, swaps)
  const file = writeConfig(chain, { port: await freePort(), tokens: ['LARK', 'MOTH'] })
  const service = await startChildService(file)
  setPriority(NICE)
  try {
    await compare(service.url, file)
  } finally {
    await service.stop()
  }
} finally {
  await chain.close()
}
