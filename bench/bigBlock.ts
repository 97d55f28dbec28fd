/**
 * `npm run bench:big-block`: one service on two chains. On the first a stranger makes a block whose receipts are 64 MB, and they
 * arrive at 2 MB/s; on the second trades go on. Prints how long a trade of the second takes to be a record, beside the
 * large answer and without, and how much the process of the service grows. Fails when a goal is missed.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { mineFat } from '../packages/server/feed/testing/fatBlock.ts'
import { resultText, sendPaced } from '../packages/server/feed/testing/pacedAnswer.ts'
import { startChildService } from '../packages/server/service/testing/childService.ts'
import { CHAIN_ID, planWith } from '../packages/server/service/testing/plan.ts'
import { storedTip } from '../packages/server/service/testing/storedTip.ts'
import { startTestChain } from '../packages/server/service/testing/testChain.ts'
import { worldConfig } from '../packages/world/local/worldConfig.ts'
import { startFaultProxy } from '../packages/world/proxy/faultProxy.ts'
import { quantile } from './harness.ts'

const MIB = 1024 * 1024
const GOALS = { ratio: 1.2, grownMib: 200 } as const
/** 64 MB of empty logs. */
const LOGS = 178_000
const BYTES_PER_SECOND = 2_000_000
const OTHER_CHAIN = 56
const TRADES = 60
const LOOK_MS = 5
const RECEIPTS = 'eth_getBlockReceipts'

const large = await startTestChain()
const small = await startTestChain({ ...planWith(), chainId: OTHER_CHAIN, name: 'Other chain' })
const proxy = await startFaultProxy({
  url: large.world.url,
  isRecording: false,
  rules: [
    {
      method: RECEIPTS,
      fault: {
        kind: 'handle',
        handle: async ({ id, params }, _, response) =>
          sendPaced(
            response as ServerResponse,
            id,
            await resultText(large.world.url, RECEIPTS, params),
            BYTES_PER_SECOND,
          ),
      },
    },
  ],
})
const database = join(large.folder, 'assay.db')
const config = worldConfig({ chains: [large.world, small.world] }, { port: 0, database }) as {
  readonly chains: readonly [{ endpoints: readonly object[] }]
}
config.chains[0].endpoints = [{ name: 'node', url: proxy.url }]
// JSON is YAML too.
const file = join(large.folder, 'both.yaml')
writeFileSync(file, JSON.stringify(config))
const service = await startChildService(file)
try {
  for (const chain of [large, small]) await chain.mine()
  await reached(OTHER_CHAIN, (await small.head()).number)
  await reached(CHAIN_ID, (await large.head()).number)
  await timesToRecord(10)
  const alone = await timesToRecord(TRADES)
  const before = residentBytes(service.pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes(service.pid))
  }, 50)
  await mineFat(large, { logs: LOGS })
  const fat = (await large.head()).number
  const beside = await timesToRecord(TRADES, () => storedTip(database, CHAIN_ID) < fat)
  await reached(CHAIN_ID, fat)
  clearInterval(watch)
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99)
  const grownMib = (most - before) / MIB
  console.log(`block to record, alone  p50 ${shown(alone, 0.5)}, p99 ${shown(alone, 0.99)}`)
  console.log(
    `beside the large block  p50 ${shown(beside, 0.5)}, p99 ${shown(beside, 0.99)}, ${beside.length} trades`,
  )
  console.log(`ratio of the p99        ${ratio.toFixed(2)}, goal ≤ ${GOALS.ratio}`)
  console.log(`resident memory grew by ${grownMib.toFixed(0)} MiB, goal < ${GOALS.grownMib}`)
  if (ratio > GOALS.ratio || grownMib >= GOALS.grownMib) process.exitCode = 1
} finally {
  await service.stop()
  await proxy.close()
  await large.close()
  await small.close()
}

/** Of trades on the second chain, as long as `isWanted`. */
async function timesToRecord(most: number, isWanted = () => true): Promise<number[]> {
  const pair = small.pool('uniswap-v2', 'USDT', 'MOTH')
  const timesMs: number[] = []
  while (timesMs.length < most && isWanted()) {
    const { number } = await small.run(small.sellV2(pair, 'MOTH', 5))
    const minedMs = performance.now()
    await reached(OTHER_CHAIN, number)
    timesMs.push(performance.now() - minedMs)
  }
  return timesMs
}

async function reached(chainId: number, number: number): Promise<void> {
  while (!(storedTip(database, chainId) >= number)) await pause(LOOK_MS)
}

function residentBytes(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

function shown(timesMs: readonly number[], share: number): string {
  return `${quantile([...timesMs], share).toFixed(0)} ms`
}
