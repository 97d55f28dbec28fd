/**
 * `npm run bench:blocks-first [-- blocks]`: on a node that takes 150 ms per call, measures how long after its block a
 * swap becomes a record, with and without a hundred unknown tokens being looked up at any time, and how long the
 * first prices of 20 configured tokens take. Fails when a goal is missed.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@assay/sdk'
import { CHAIN_ID, token } from '../packages/server/endToEnd/testing/plan.ts'
import { ROOMY, roomyClient } from '../packages/server/endToEnd/testing/roomy.ts'
import { listed, many, startSlowNode } from '../packages/server/endToEnd/testing/slowNode.ts'
import { storedTip } from '../packages/server/endToEnd/testing/storedTip.ts'
import { openTestService } from '../packages/server/endToEnd/testing/testService.ts'
import { quantile } from './harness.ts'

const GOALS = { ratio: 1.2, firstPricesS: 10 } as const
/** The most that a batch may name. */
const BATCH = 100
/** The interval of checks for commits. */
const LOOK_MS = 5

/** With and without take turns, so that other load on the machine affects both. */
const BLOCKS_IN_TURN = 10

const turns = Math.ceil(Number(process.argv[2] ?? 100) / BLOCKS_IN_TURN)
const node = await startSlowNode()
const { chain } = node
const service = await openTestService(chain, {
  tokens: listed.map(({ symbol }) => symbol),
  endpoints: [node.proxy.url],
})
try {
  await service.untilEvaluated()
  const firstPricesS = (performance.now() - (node.rounds.startedMs ?? 0)) / 1000
  const firstRounds = node.rounds.made
  const client = await roomyClient(service)
  await client.admin.setLimits('roomy', { ...ROOMY, enrolments_per_day: 1_000_000 })
  const [alone, beside]: [number[], number[]] = [[], []]
  let asked = 0
  for (let turn = 0; turn < turns; turn++) {
    alone.push(...(await timesToRecord(BLOCKS_IN_TURN)))
    const asker = keepAsking(client, asked)
    beside.push(...(await timesToRecord(BLOCKS_IN_TURN)))
    asked = await asker.stop()
  }
  const ratio = quantile(beside, 0.99) / quantile(alone, 0.99)
  const said = await service.records()
  const retracted = said.filter(({ type }) => type === 'PRICE_RETRACT').length
  console.log(
    `block to record, alone   p50 ${shown(alone, 0.5)}, p99 ${shown(alone, 0.99)}, ${alone.length} blocks`,
  )
  console.log(
    `with look-ups beside     p50 ${shown(beside, 0.5)}, p99 ${shown(beside, 0.99)}, ${asked} tokens asked for`,
  )
  console.log(`ratio of the p99         ${ratio.toFixed(2)}, goal ≤ ${GOALS.ratio}`)
  console.log(`prices withdrawn         ${retracted}`)
  console.log(
    `first prices of ${listed.length} tokens ${firstPricesS.toFixed(1)} s in ${firstRounds} rounds of calls, goal ≤ ${GOALS.firstPricesS} s`,
  )
  if (ratio > GOALS.ratio || retracted > 0 || firstPricesS > GOALS.firstPricesS) process.exitCode = 1
} finally {
  await service.close()
  await node.close()
}

/** From a block with a trade to the commit of its records. */
async function timesToRecord(count: number): Promise<number[]> {
  const pair = chain.pool('uniswap-v2', 'USDC', 'LISTED0')
  const timesMs: number[] = []
  for (let at = 0; at < count; at++) {
    const { number } = await chain.run(chain.sellV2(pair, 'LISTED0', 5))
    const minedMs = performance.now()
    while (storedTip(join(chain.folder, 'assay.db'), CHAIN_ID) < number) await pause(LOOK_MS)
    timesMs.push(performance.now() - minedMs)
  }
  return timesMs
}

/** A batch of unknown tokens, and another one as soon as the last is looked up; the very first one has markets. */
function keepAsking(client: Client, before: number): { readonly stop: () => Promise<number> } {
  let isStopped = false
  let asked = before
  const work = async (): Promise<void> => {
    while (!isStopped) {
      const group =
        asked === 0
          ? many
          : Array.from({ length: BATCH }, (_, at) => token(0x10_0000 + asked + at, 'NONE', 1))
      const tokens = group.map(({ address }) => ({ chain_id: CHAIN_ID, token_address: address }))
      asked += tokens.length
      for (let isPending = true; isPending; ) {
        const { quotes } = await client.quoteTokens({ tokens })
        isPending = quotes.some(each => 'quote' in each && each.quote.state === 'PENDING')
        // As the response requests.
        if (isPending) await pause(1000)
      }
    }
  }
  const done = work()
  return {
    stop: async () => {
      isStopped = true
      await done
      return asked
    },
  }
}

function shown(timesMs: readonly number[], share: number): string {
  return `${quantile([...timesMs], share).toFixed(0)} ms`
}
