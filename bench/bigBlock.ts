/**
 * `npm run bench:big-block`: does a large answer affect the other chains of a service? One chain has blocks whose
 * receipts are 64 MB each and arrive at 2 MB/s; trades continue on another. The bench measures the time from the
 * announcement of a trade's block to its commit, in three situations that take turns:
 *
 * - quiet: no large answer;
 * - control: the answer goes to a process that discards it, so the machine has the work of sending it;
 * - beside: the answer goes to the service, which reads, proves and commits the block.
 *
 * The goal compares beside with control. The blocks are mined and their receipts fetched from the node before any
 * measurement, and the slow line is a process of low priority. Fails when a goal is missed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { mineFat } from '../packages/server/feed/testing/fatBlock.ts'
import { startChildService } from '../packages/server/endToEnd/testing/childService.ts'
import { CHAIN_ID, planWith } from '../packages/server/endToEnd/testing/plan.ts'
import { type Block, startTestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { worldConfig } from '../packages/world/local/worldConfig.ts'
import { quantile } from './harness.ts'
import { EVERY_MS, LOOP_FILE, type Stall } from './loopProbe.ts'
import type { Order } from './slowLine.ts'

const MIB = 1024 * 1024
const GOALS = { ratio: 1.2, grownMib: 200 } as const
/** 64 MB of empty logs. */
const LOGS = 178_000
const OTHER_CHAIN = 56
/** Each with a large block of its own. */
const ROUNDS = 3
const QUIET_TRADES = 120
/** Enough for the service to run compiled code. */
const WARM_UP_TRADES = 100
/** With fewer samples, a 99th percentile rests on two or three of them. */
const LEAST_SAMPLES = 200
const LOW_PRIORITY = 10
const LOOK_MS = 2
/**
 * Between a commit and the next trade: longer than a kernel delays an acknowledgement (40 ms). Anvil's WebSocket
 * holds back an announcement while its last answer is not acknowledged, and that wait would hide the service's own
 * time.
 */
const REST_MS = 60

const SITUATIONS = ['quiet', 'control', 'beside'] as const
type Situation = (typeof SITUATIONS)[number]
type Turn = {
  readonly situation: Situation
  readonly startMs: number
  readonly endMs: number
  readonly timesMs: readonly number[]
}

const large = await startTestChain()
const small = await startTestChain({ ...planWith(), chainId: OTHER_CHAIN, name: 'Other chain' })
const slowLine = forked(new URL('slowLine.ts', import.meta.url), large.world.url)
const [slowUrl] = (await once(slowLine, 'message')) as [string]
const sink = forked(new URL('answerSink.ts', import.meta.url), slowUrl)
const database = join(large.folder, 'assay.db')
const loopFile = join(large.folder, 'loops')
writeFileSync(loopFile, '')
const service = await startService()
const position = new DatabaseSync(database, { readOnly: true, timeout: 5000 }).prepare(
  'SELECT tip_number AS tip FROM position WHERE chain_id = ?',
)
const announcedMs = hearHeads()
try {
  for (const chain of [large, small]) await chain.mine()
  await reached(OTHER_CHAIN, (await small.head()).number)
  await reached(CHAIN_ID, (await large.head()).number)
  const fatBlocks = await prepareFat()
  await trade(nth => nth < WARM_UP_TRADES)
  const turns: Turn[] = []
  const grownMib: number[] = []
  for (const fat of fatBlocks) {
    turns.push(await during('quiet', () => trade(nth => nth < QUIET_TRADES)))
    turns.push(await during('control', () => tradeWhile(discarded(fat))))
    turns.push(
      await during('beside', async () => {
        const memory = watchMemory(service.pid)
        await tell({ tell: 'show', number: fat.number })
        const timesMs = await tradeWhile(reached(CHAIN_ID, fat.number))
        grownMib.push(memory.end() / MIB)
        return timesMs
      }),
    )
  }
  process.exitCode = report(turns, Math.max(...grownMib)) ? 0 : 1
} finally {
  await service.stop()
  for (const child of [slowLine, sink]) child.disconnect()
  await large.close()
  await small.close()
}

/** It represents another machine, and yields to the service. */
function forked(file: URL, argument: string): ChildProcess {
  const child = fork(file, [argument])
  setPriority(child.pid as number, LOW_PRIORITY)
  child.once('exit', code => {
    // Its answer would never arrive.
    if (code !== 0) throw new Error(`${file.pathname} ended with ${code}`)
  })
  return child
}

async function startService() {
  const config = worldConfig({ chains: [large.world, small.world] }, { port: 0, database }) as {
    readonly chains: readonly [{ endpoints: readonly object[] }]
  }
  config.chains[0].endpoints = [{ name: 'node', url: slowUrl }]
  // JSON is YAML too.
  const file = join(large.folder, 'both.yaml')
  writeFileSync(file, JSON.stringify(config))
  const probe = new URL('loopProbe.ts', import.meta.url).href
  return startChildService(file, { NODE_OPTIONS: `--import=${probe}`, [LOOP_FILE]: loopFile })
}

/** One block per round. The service does not know any of them yet. */
async function prepareFat(): Promise<readonly Block[]> {
  await tell({ tell: 'show', number: (await large.head()).number })
  const blocks: Block[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await mineFat(large, { logs: LOGS })
    const block = await large.head()
    await tell({ tell: 'keep', hash: block.hash })
    blocks.push(block)
  }
  return blocks
}

async function tell(order: Order): Promise<void> {
  slowLine.send(order)
  await once(slowLine, 'message')
}

/** Waits until the control has received the whole answer. */
async function discarded({ hash }: Block): Promise<void> {
  sink.send(hash)
  await once(sink, 'message')
}

async function during(situation: Situation, work: () => Promise<readonly number[]>): Promise<Turn> {
  const startMs = Date.now()
  const timesMs = await work()
  // The last delay of an event loop is written a moment later.
  await pause(2 * EVERY_MS)
  return { situation, startMs, endMs: Date.now(), timesMs }
}

async function tradeWhile(over: Promise<unknown>): Promise<readonly number[]> {
  let isOver = false
  const watched = over.finally(() => {
    isOver = true
  })
  const timesMs = await trade(() => !isOver)
  await watched
  return timesMs
}

/** The time of each trade from its announcement to its commit; one at a time. */
async function trade(isWanted: (nth: number) => boolean): Promise<readonly number[]> {
  const pair = small.pool('uniswap-v2', 'USDT', 'MOTH')
  const timesMs: number[] = []
  let { number } = await small.head()
  while (isWanted(timesMs.length)) {
    number++
    const [committedMs, startedMs] = await Promise.all([
      reached(OTHER_CHAIN, number),
      announced(number),
      small.run(small.sellV2(pair, 'MOTH', 5)),
    ])
    timesMs.push(Math.max(0, committedMs - startedMs))
    await pause(REST_MS)
  }
  return timesMs
}

/**
 * By block number, the time at which the node of the other chain announced it, over a connection independent of the
 * service.
 */
function hearHeads(): ReadonlyMap<number, number> {
  const heardMs = new Map<number, number>()
  const socket = new WebSocket(small.world.wsUrl)
  socket.addEventListener('open', () =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
  )
  socket.addEventListener('message', ({ data }) => {
    const { params } = JSON.parse(String(data)) as { params?: { result: { number: string } } }
    if (params !== undefined) heardMs.set(Number(params.result.number), performance.now())
  })
  return heardMs
}

async function announced(number: number): Promise<number> {
  while (!announcedMs.has(number)) await pause(LOOK_MS)
  return announcedMs.get(number) as number
}

/** When the chain was first seen committed up to this block. */
async function reached(chainId: number, number: number): Promise<number> {
  while (!(Number(position.get(chainId)?.['tip']) >= number)) await pause(LOOK_MS)
  return performance.now()
}

function watchMemory(pid: number) {
  const before = residentBytes(pid)
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid))
  }, 50)
  return {
    /** The largest growth in bytes. */
    end(): number {
      clearInterval(timer)
      return most - before
    },
  }
}

function residentBytes(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

/** Whether the goals are met. */
function report(turns: readonly Turn[], grownMib: number): boolean {
  const stalls = readFileSync(loopFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Stall)
  const samples = Object.fromEntries(
    SITUATIONS.map(each => [
      each,
      turns.filter(({ situation }) => situation === each).flatMap(turn => turn.timesMs),
    ]),
  ) as Record<Situation, number[]>
  const longest = (situation: Situation, chainId: number | null): string => {
    const own = turns.filter(turn => turn.situation === situation)
    const seen = stalls.filter(
      stall =>
        stall.chainId === chainId &&
        own.some(({ startMs, endMs }) => startMs < stall.atMs && stall.atMs <= endMs),
    )
    return `${Math.max(0, ...seen.map(({ longestMs }) => longestMs)).toFixed(0)} ms`
  }
  console.log('             trades     p50      p99   loop blocked at most: large chain, other chain, API')
  for (const situation of SITUATIONS) {
    const times = samples[situation]
    const shown = [0.5, 0.99].map(share => `${quantile(times, share).toFixed(1)} ms`.padStart(9)).join('')
    const blocked = [CHAIN_ID, OTHER_CHAIN, null].map(chainId => longest(situation, chainId)).join(', ')
    console.log(`${situation.padEnd(10)} ${String(times.length).padStart(8)}${shown}   ${blocked}`)
  }
  const ratio = quantile(samples.beside, 0.99) / quantile(samples.control, 0.99)
  const isEnough = SITUATIONS.every(situation => samples[situation].length >= LEAST_SAMPLES)
  console.log(`p99 beside / control    ${ratio.toFixed(2)}, goal ≤ ${GOALS.ratio}`)
  console.log(`resident memory grew by ${grownMib.toFixed(0)} MiB, goal < ${GOALS.grownMib}`)
  if (!isEnough) console.log(`Fewer than ${LEAST_SAMPLES} trades in a situation say nothing about its p99.`)
  const isMet = isEnough && ratio <= GOALS.ratio && grownMib < GOALS.grownMib
  console.log(isMet ? 'met' : 'MISSED')
  return isMet
}
