/**
 * `npm run bench:calls [-- seconds]`: how many calls a chain with 20 tracked pools makes in its steady state, over
 * WebSocket and over HTTP, on a local node with one block per second. Counted at a proxy in front of the node, each
 * entry of a batch separately. Fails when a goal is missed.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultProxy, startFaultProxy } from '../packages/world/proxy/faultProxy.ts'
import { putMulticall3 } from '../packages/server/market/testing/multicall3.ts'
import { LARK, planWith, token } from '../packages/server/endToEnd/testing/plan.ts'
import { startTestChain, type TestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { openTestService, type TestServiceOptions } from '../packages/server/endToEnd/testing/testService.ts'

/** Calls per block, in addition to a fixed number per minute. */
const GOALS = { ws: 1.3, http: 2.6 } as const
const A_MINUTE = 6
/** The plan itself has four. */
const MORE_POOLS = 16
/** Long enough for all start-up calls, including the first ones about finality. */
const WARM_UP_S = 60

const seconds = Number(process.argv[2] ?? 120)
const tokens = Array.from({ length: MORE_POOLS }, (_, n) => token(0x100 + n, `T${n}`, 1 + n))
const pools = tokens.map(({ symbol }) => ({
  deployment: 'uniswap-v2',
  pair: ['USDC', symbol] as const,
  usd: 500_000,
}))
const chain = await startTestChain(planWith({ tokens, pools }))
try {
  // It exists on every chain in real use.
  await putMulticall3((method, ...params) => chain.rpc(method, ...params))
  await chain.rpc('evm_setIntervalMining', 1)
  let isMet = true
  for (const kind of ['ws', 'http'] as const) isMet = (await measure(chain, kind)) && isMet
  console.log(isMet ? 'met' : 'MISSED')
  if (!isMet) process.exitCode = 1
} finally {
  await chain.close()
}

async function measure(on: TestChain, kind: keyof typeof GOALS): Promise<boolean> {
  const proxy = await startFaultProxy({ url: on.world.url })
  const options: TestServiceOptions = {
    name: kind,
    tokens: [LARK, ...tokens].map(({ symbol }) => symbol),
    endpoints: [kind === 'ws' ? proxy.wsUrl : proxy.url],
  }
  const service = await openTestService(on, options)
  try {
    await service.untilEvaluated()
    await pause(WARM_UP_S * 1000)
    const first = (await on.head()).number
    proxy.calls.length = 0
    await pause(seconds * 1000)
    return report(kind, proxy, (await on.head()).number - first)
  } finally {
    await service.close()
    await proxy.close()
  }
}

function report(kind: keyof typeof GOALS, { calls }: FaultProxy, blocks: number): boolean {
  const minutes = seconds / 60
  const limit = GOALS[kind] * blocks + A_MINUTE * minutes
  const perBlock = (count: number): string => (count / blocks).toFixed(3)
  console.log(`${kind}: ${calls.length} calls in ${blocks} blocks, ${seconds} s`)
  console.log(
    `  a block   ${perBlock(calls.length)}, goal ${GOALS[kind]} and ${A_MINUTE} a minute: ${perBlock(limit)}`,
  )
  console.log(`  a minute  ${(calls.length / minutes).toFixed(1)}, goal ${(limit / minutes).toFixed(1)}`)
  const counts = new Map<string, number>()
  for (const { method, params } of calls) {
    const which = typeof params[0] === 'string' && !params[0].startsWith('0x') ? ` ${params[0]}` : ''
    counts.set(`${method}${which}`, (counts.get(`${method}${which}`) ?? 0) + 1)
  }
  for (const [name, count] of [...counts].sort((a, b) => b[1] - a[1]))
    console.log(`  ${name.padEnd(32)} ${count}, ${perBlock(count)} a block`)
  return calls.length <= limit
}
