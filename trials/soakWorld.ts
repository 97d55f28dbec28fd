/**
 * `npm run soak:world -- --hours 24 --hurry 20`: the local world alone, with its time accelerated by the given
 * factor. Fails unless its nodes' memory and response time and the size of its state files stay flat. Prints one line
 * per hour of its time; Ctrl-C ends it and leaves nothing behind.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  DEV_ACCOUNT,
  type LocalWorld,
  startClock,
  startWorld,
  type WorldChain,
} from '../packages/world/index.ts'
import { residentMib } from './residentMib.ts'
import { commandLine, misused } from './commandLine.ts'

const LOOK_MS = 1000
const HOUR_S = 3600
/** The growth allowed in the last quarter over the second, in which every node has been renewed. */
const GROWTH = 0.25
/** Below this share of the expected blocks the run was not a full day. */
const LEAST_BLOCKS = 0.9

type Sight = {
  readonly hours: number
  /** For all nodes together. */
  readonly residentMib: number
  readonly stateMib: number
  /** The slowest chain's response time for its newest block; null while a node is away. */
  readonly answerMs: number | null
}

/** Traders and feeds send from one account. */
type Done = { readonly blocks: number; readonly transactions: number }

const USAGE = `npm run soak:world -- [--hours N] [--hurry N]
  --hurry  how many times faster than the clock`
const { values } = commandLine(USAGE, {
  options: { hours: { type: 'string', default: '24' }, hurry: { type: 'string', default: '20' } },
})
const hours = positive('hours', values.hours)
const hurry = positive('hurry', values.hurry)
const interrupted = new AbortController()
process.on('SIGINT', () => interrupted.abort())
const folder = mkdtempSync(join(tmpdir(), 'assay-soak-world-'))
try {
  const world = await startWorld({
    folder,
    clock: startClock(hurry),
    onProgress: line => console.log(line),
  })
  try {
    const faults = await soak(world)
    for (const fault of faults) console.log(`fault: ${fault}`)
    console.log(faults.length === 0 ? `Flat over ${hours} hours.` : `${faults.length} faults.`)
    process.exitCode = faults.length === 0 ? 0 : 1
  } finally {
    await world.close()
  }
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  console.log('Ended before its time: nothing is shown.')
  process.exitCode = 130
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Returns the faults found. */
async function soak(world: LocalWorld): Promise<string[]> {
  const began = await Promise.all(world.chains.map(progressOf))
  const sights = await watch(world, began)
  const ended = await Promise.all(world.chains.map(progressOf))
  const faults: string[] = []
  for (const [at, { plan }] of world.chains.entries()) {
    const blocks = (ended[at] as Done).blocks - (began[at] as Done).blocks
    const trades = (ended[at] as Done).transactions - (began[at] as Done).transactions
    const share = shareOf(plan, blocks, hours)
    const said = `${plan.name}: ${blocks} blocks, ${percent(share)} of those due`
    console.log(`${said}, with ${trades} transactions`)
    if (share < LEAST_BLOCKS) faults.push(`${said}: the nodes cannot keep up, try a smaller --hurry`)
  }
  return [...faults, ...judged(sights)]
}

async function watch({ chains }: LocalWorld, began: readonly Done[]): Promise<readonly Sight[]> {
  const sights: Sight[] = []
  const startedMs = performance.now()
  let reported = 0
  for (;;) {
    const passed = ((performance.now() - startedMs) / 1000 / HOUR_S) * hurry
    if (passed >= hours) return sights
    sights.push(await sightOf(chains, passed))
    if (Math.floor(passed) > reported) {
      reported = Math.floor(passed)
      const line = lineOf(
        reported,
        sights.filter(sight => sight.hours > reported - 1),
      )
      console.log(`${line}, ${await paceOf(chains, began, passed)}`)
    }
    await pause(LOOK_MS, undefined, interrupted)
  }
}

async function sightOf(chains: readonly WorldChain[], passed: number): Promise<Sight> {
  const answers = await Promise.all(chains.map(answerMs))
  return {
    hours: passed,
    residentMib: sum(chains.map(chain => residentMib(chain.pid()))),
    stateMib: sum(readdirSync(folder).map(file => statSync(join(folder, file)).size)) / 2 ** 20,
    answerMs: answers.some(answer => answer === null) ? null : Math.max(...(answers as number[])),
  }
}

/** The whole content of a block: its transactions and receipts. */
async function answerMs({ client }: WorldChain): Promise<number | null> {
  const startedMs = performance.now()
  try {
    await client.request({ method: 'eth_getBlockReceipts' as 'txpool_status', params: ['latest'] as never })
    return performance.now() - startedMs
  } catch {
    return null
  }
}

function judged(sights: readonly Sight[]): string[] {
  const [second, last] = [quarter(sights, 1), quarter(sights, 3)]
  const measures = {
    'the memory of the nodes, at its highest, in MiB': (part: readonly Sight[]) =>
      Math.max(...part.map(sight => sight.residentMib)),
    'the files of their states, at their largest, in MiB': (part: readonly Sight[]) =>
      Math.max(...part.map(sight => sight.stateMib)),
    'the slowest answer of a hundred, in ms': (part: readonly Sight[]) => answerOf(part, 0.99),
    'the answer in the middle, in ms': (part: readonly Sight[]) => answerOf(part, 0.5),
  }
  return Object.entries(measures).flatMap(([what, of]) => {
    const [before, after] = [of(second), of(last)]
    console.log(`${what}: ${before.toFixed(1)} in the second quarter, ${after.toFixed(1)} in the last`)
    return after <= before * (1 + GROWTH) ? [] : [`${what}: ${before.toFixed(1)} became ${after.toFixed(1)}`]
  })
}

function quarter(sights: readonly Sight[], at: number): readonly Sight[] {
  return sights.filter(sight => sight.hours >= (hours * at) / 4 && sight.hours < (hours * (at + 1)) / 4)
}

function answerOf(sights: readonly Sight[], share: number): number {
  const answers = sights.flatMap(sight => sight.answerMs ?? []).sort((a, b) => a - b)
  return answers[Math.min(answers.length - 1, Math.floor(answers.length * share))] ?? Number.NaN
}

function lineOf(hour: number, sights: readonly Sight[]): string {
  const mib = sights.map(sight => sight.residentMib)
  const away = sights.filter(sight => sight.answerMs === null).length
  return [
    `${hour} h`,
    `nodes ${Math.min(...mib).toFixed(0)} to ${Math.max(...mib).toFixed(0)} MiB`,
    `states ${Math.max(...sights.map(sight => sight.stateMib)).toFixed(1)} MiB`,
    `answers ${answerOf(sights, 0.5).toFixed(0)} ms, at worst ${answerOf(sights, 1).toFixed(0)} ms`,
    `one was away in ${away} of ${sights.length} looks`,
  ].join(', ')
}

/** The pace of the slowest chain, so that a run that cannot keep up is noticed before the day is over. */
async function paceOf(
  chains: readonly WorldChain[],
  began: readonly Done[],
  passed: number,
): Promise<string> {
  const shares = await Promise.all(
    chains.map(async ({ plan, client }, at) =>
      shareOf(plan, Number(await client.getBlockNumber()) - (began[at] as Done).blocks, passed),
    ),
  ).catch(() => null)
  return shares === null
    ? 'blocks unknown while one is away'
    : `${percent(Math.min(...shares))} of all blocks due`
}

function shareOf({ blockTimeS }: WorldChain['plan'], blocks: number, inHours: number): number {
  return (blocks * blockTimeS) / (inHours * HOUR_S)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`
}

async function progressOf({ client }: WorldChain): Promise<Done> {
  const [blocks, transactions] = await Promise.all([
    client.getBlockNumber(),
    client.getTransactionCount({ address: DEV_ACCOUNT }),
  ])
  return { blocks: Number(blocks), transactions }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (value > 0) return value
  return misused(USAGE, `--${name} is ${text}; expected a number above 0`)
}
