/**
 * `npm run soak:chains -- --minutes 30`: the service on five chains at their real block rates, with a mixed load of
 * subscribers and quotes. A small server of blocks made beforehand stands for all nodes, and its processor time is
 * reported apart. Fails unless no chain falls into a GAP, the records of a block arrive within 250 ms at the 99th
 * percentile on each chain, memory stays flat, and every quote is answered. Prints a line a minute.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, createClient } from '@assay/sdk'
import { issueKeyIn, loadConfig } from '../packages/server/commands/config.ts'
import { freePort, startChildService } from '../packages/server/endToEnd/testing/childService.ts'
import { ROOMY } from '../packages/server/endToEnd/testing/roomy.ts'
import { until } from '../packages/server/endToEnd/testing/until.ts'
import { quantile } from '../bench/harness.ts'
import { LagMeter } from './chains/lagMeter.ts'
import type { Served, Wanted } from './chains/node.ts'
import { chainConfig, marketOf, RATES } from './chains/plan.ts'
import { type Sample, verdictOf } from './chains/verdict.ts'
import { commandLine, misused } from './commandLine.ts'
import { Part } from './load/part.ts'
import type { Answered, Asked } from './load/quotes.ts'
import type { Subscribed, Wish } from './load/subscribers.ts'
import { ticksOf } from './load/usage.ts'
import { residentMib } from './residentMib.ts'

/** As `assay serve` runs: with its limit of malloc, unlike the program behind it. */
const COMMAND = join(import.meta.dirname, '../packages/cli/bin.js')
const SAMPLE_S = 10
const SAMPLES_A_LINE = 6
const TICKS_PER_SECOND = 100
/** The first seconds are not judged: caches fill, code is compiled. */
const WARM_UP_S = 30
/** From the first announcement to a price on every chain, on a slow machine. */
const START_S = 300
const PRICED_MS = 240_000
const QUOTES = { connections: 4, perSecond: 100 } as const
const SUBSCRIBERS = 50

const USAGE = 'npm run soak:chains -- [--minutes N]'
const { values } = commandLine(USAGE, { options: { minutes: { type: 'string', default: '30' } } })
const minutes = Number(values.minutes)
if (!(minutes > 0)) misused(USAGE, `--minutes is ${values.minutes}; expected a number above 0`)
const seconds = minutes * 60
const folder = mkdtempSync(join(tmpdir(), 'assay-soak-chains-'))
const node = new Part('../chains/node.ts', [], false)
const quotes = new Part('quotes.ts')
const subscribers = new Part('subscribers.ts')
try {
  const blocks = await node.call<number>('make', {
    seconds: START_S + WARM_UP_S + seconds,
    folder,
  } satisfies Wanted)
  console.log(`${blocks} blocks made for ${RATES.length} chains`)
  const faults = await soak(await node.call<readonly Served[]>('start'))
  for (const fault of faults) console.log(`fault: ${fault}`)
  console.log(faults.length === 0 ? `Sound after ${minutes} minutes.` : `${faults.length} faults.`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await Promise.all([node, quotes, subscribers].map(part => part.close()))
  rmSync(folder, { recursive: true, force: true })
}

async function soak(chains: readonly Served[]): Promise<readonly string[]> {
  const file = join(folder, 'assay.yaml')
  writeFileSync(file, await configText(chains))
  const service = await startChildService(file, {}, [], COMMAND)
  try {
    const scopes = ['read', 'stream', 'admin'] as const
    const { key } = await issueKeyIn(loadConfig(file, {}), { name: 'soak', consumer: 'soak', scopes })
    const client = createClient({ baseUrl: service.url, apiKey: key })
    await client.admin.setLimits('soak', ROOMY)
    const paths = await until('a price on every chain', () => pricedPaths(client, chains), PRICED_MS)
    console.log(`${paths.length} tokens have a price`)
    const target = { url: service.url, key, chainIds: chains.map(({ chainId }) => chainId) }
    await subscribers.call('open', { target, sockets: SUBSCRIBERS } satisfies Wish)
    const meter = await LagMeter.open(target, chains)
    await pause(WARM_UP_S * 1000)
    meter.begin()
    const asked: Asked = { ...QUOTES, urls: [service.url], keys: [key], paths, seconds }
    const [answered, samples] = await Promise.all([
      quotes.call<Answered>('ask', asked),
      watch(client, meter, service.pid),
    ])
    meter.close()
    const heard = await subscribers.call<Subscribed>('report')
    await subscribers.call('leave')
    const lag = chains.map(({ chainId }) => ({ chainId, latenciesMs: meter.latenciesMs(chainId) }))
    const { lines, faults } = verdictOf(lag, samples.taken)
    for (const line of lines) console.log(line)
    const { quotes: count, p50Ms, p99Ms, byStatus } = answered
    console.log(`quotes   ${count}, p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`)
    const unanswered = Object.entries(byStatus).filter(([status]) => status !== '200')
    return [
      ...faults,
      ...samples.faults,
      ...meter.faults,
      ...heard.faults,
      ...(heard.open === SUBSCRIBERS ? [] : [`${heard.open} of ${SUBSCRIBERS} subscribers were left`]),
      ...unanswered.map(([status, times]) => `${times} quotes were answered with ${status}`),
    ]
  } finally {
    const code = await service.stop()
    if (code !== 0) console.log(`the service ended with ${code}: ${service.said()}`)
  }
}

/** JSON is YAML. */
async function configText(chains: readonly Served[]): Promise<string> {
  const served = new Map(chains.map(chain => [chain.chainId, chain]))
  return JSON.stringify({
    listen: { host: '127.0.0.1', port: await freePort() },
    store: `sqlite:${join(folder, 'assay.db')}`,
    chains: RATES.map(rate => chainConfig(marketOf(rate), served.get(rate.chainId) as Served)),
  })
}

/** Null while a chain has no price. */
async function pricedPaths(client: Client, chains: readonly Served[]): Promise<readonly string[] | null> {
  const lists = await Promise.all(
    chains.map(async ({ chainId: chain_id }) => {
      const { tokens } = await client.fetchTokens({ chain_id, limit: 1000 })
      return tokens
        .filter(({ role, state }) => role === 'TOKEN' && state === 'PRICED')
        .map(({ token_address }) => `/v1/quote/token/${chain_id}/${token_address}`)
    }),
  )
  return lists.every(paths => paths.length > 0) ? lists.flat() : null
}

async function watch(client: Client, meter: LagMeter, pid: number) {
  const taken: Sample[] = []
  const faults: string[] = []
  const roles = [pid, node.pid].map(each => ({ name: String(each), pids: [each] }))
  let [before, beforeMs] = [roles.map(ticksOf), performance.now()]
  for (let at = 1; at * SAMPLE_S <= seconds; at++) {
    await pause(SAMPLE_S * 1000 - (performance.now() - beforeMs))
    const [now, nowMs] = [roles.map(ticksOf), performance.now()]
    const coresOf = (role: number) =>
      ((now[role] as number) - (before[role] as number)) / (((nowMs - beforeMs) / 1000) * TICKS_PER_SECOND)
    taken.push({ mib: residentMib(pid), serviceCores: coresOf(0), nodeCores: coresOf(1) })
    ;[before, beforeMs] = [now, nowMs]
    const { chains } = await client.fetchChains()
    const states = await Promise.all(chains.map(({ chain_id }) => client.fetchHealth({ chain_id })))
    for (const { chain_id, status, reasons } of states)
      if (status === 'GAP' || status === 'UNAVAILABLE')
        faults.push(`chain ${chain_id} was ${status} (${reasons.join()}) after ${at * SAMPLE_S} s`)
    if (at % SAMPLES_A_LINE === 0)
      console.log(
        lineOf(
          at,
          taken.at(-1) as Sample,
          meter,
          states.map(({ status }) => status),
        ),
      )
  }
  return { taken, faults }
}

function lineOf(
  at: number,
  { mib, serviceCores, nodeCores }: Sample,
  meter: LagMeter,
  states: readonly string[],
): string {
  const p99 = RATES.map(
    ({ chainId }) => `${chainId} ${quantile(meter.latenciesMs(chainId), 0.99).toFixed(0)} ms`,
  )
  return `${((at * SAMPLE_S) / 60).toFixed(0).padStart(3)} min  service ${mib.toFixed(0)} MiB, ${serviceCores.toFixed(2)} cores  node ${nodeCores.toFixed(2)} cores  ${meter.records} records  p99 ${p99.join(', ')}  ${[...new Set(states)].join()}  load ${(loadavg()[0] ?? 0).toFixed(1)}`
}
