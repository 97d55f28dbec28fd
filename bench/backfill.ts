/**
 * A back-fill of 50,000 swaps with verification: trades are made on a real chain, then a new process each time reads
 * its past, proves every block by its receipts root and stores it. Prints the rate next to the time the node alone
 * needs for the same receipts in the same run, and the same with the node's answers served from memory, which leaves
 * our own time. One more back-fill of the same past, not timed, is stopped repeatedly for a garbage collection, and
 * reports memory along the way. `node --expose-gc bench/backfill.ts [swaps] [--hold]`; with `--hold`, the node stays
 * available for another reader of the same past (docs/PERFORMANCE.md) until Ctrl-C.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTestChain, type TestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { writeConfig } from '../packages/server/endToEnd/testing/testService.ts'
import { backfillOnce, type Outcome } from './backfillOnce.ts'
import { median } from './harness.ts'

/** In one transaction, hence one block: the size of a busy block on a real chain. */
const PER_BLOCK = 100
/** Back-fills of the same past; the median counts. */
const RUNS = 5
/** Memory after the first fifth counts as settled; any increase by the end is growth. */
const SETTLED = 0.2

// A native node for machines for which the registry has no anvil.
if (process.env['ASSAY_EDR'] !== undefined)
  process.env['ASSAY_ANVIL'] = fileURLToPath(new URL('edrNode.ts', import.meta.url))

const swaps = Number(process.argv[2] ?? 50_000)
// A node that drops its past has none to read, and one that writes it meanwhile answers half as fast.
const chain = await startTestChain(undefined, { keptBlocks: 100_000, stateEveryS: 86_400 })
const keptNode = fork(new URL('keptNode.ts', import.meta.url), [chain.world.url], { execArgv: [] })
try {
  const keptUrl = await messageOf<string>(keptNode)
  await trade(chain, swaps)
  // One endpoint over HTTP, as for the other reader.
  const ofNode = writeConfig(chain, { name: 'node', endpoints: [chain.world.url] })
  const ofKept = writeConfig(chain, { name: 'kept', endpoints: [keptUrl] })
  const nodeS = await timed(() => readReceipts(chain))
  const read = await backfills(ofNode, 'node')
  // The first run only fills the cache.
  const kept = (await backfills(ofKept, 'kept', RUNS + 1)).slice(1)
  const heap: { readonly share: number; readonly mib: number }[] = []
  await backfillOnce(ofNode, join(chain.folder, 'watched.db'), ({ next_block, to_block }) => {
    globalThis.gc?.()
    heap.push({ share: next_block / (to_block + 1), mib: process.memoryUsage().heapUsed / 2 ** 20 })
  })
  const settled = heap.find(({ share }) => share >= SETTLED)?.mib ?? 0
  const last = heap.at(-1)?.mib ?? 0
  const found = [...read, ...kept].map(({ events }) => events)
  const events = found[0] as number
  if (events < swaps || found.some(each => each !== events)) {
    console.log(`${found.join(', ')} events of ${swaps} swaps were found: nothing was measured`)
    process.exitCode = 1
  }
  const tookS = median(read.map(({ scanS }) => scanS))
  console.log(`events stored        ${events} (${swaps} swaps)`)
  console.log(`back-fill            ${summary(read)}, ${Math.round(swaps / tookS)} swaps/s`)
  console.log(
    `node alone           ${nodeS.toFixed(2)} s for the same receipts, so ${(nodeS / tookS).toFixed(2)} of its speed`,
  )
  console.log(`answers from memory  ${summary(kept)}`)
  console.log(`heap                 ${settled.toFixed(1)} MiB settled, ${last.toFixed(1)} MiB at the end`)
  if (process.argv.includes('--hold')) {
    const { number } = await chain.head()
    console.log(`node                 ${chain.world.url}, blocks up to ${number}`)
    console.log(`its answers kept     ${keptUrl}`)
    console.log(`v2 pool              ${chain.pool('uniswap-v2', 'USDC', 'LARK')}`)
    console.log(`v3 pool              ${chain.pool('uniswap-v3', 'WETH', 'LARK')}`)
    await once(process, 'SIGINT')
  }
} finally {
  keptNode.kill()
  await chain.close()
}

/** One after the other, each into a database of its own. */
async function backfills(config: string, name: string, runs = RUNS): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let run = 0; run < runs; run++) {
    const of = [config, join(chain.folder, `${name}-${run}.db`)]
    outcomes.push(await messageOf(fork(new URL('backfillOnce.ts', import.meta.url), of, { execArgv: [] })))
  }
  return outcomes
}

function summary(outcomes: readonly Outcome[]): string {
  const scanS = outcomes.map(outcome => outcome.scanS)
  const wholeS = median(outcomes.map(outcome => outcome.wholeS))
  return (
    `${median(scanS).toFixed(2)} s, between ${Math.min(...scanS).toFixed(2)} and ${Math.max(...scanS).toFixed(2)} s ` +
    `in ${scanS.length} runs; ${wholeS.toFixed(2)} s with the opening and closing of the database`
  )
}

/** The first message of a process. A process that ends without one ends the bench. */
async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const ended = once(child, 'disconnect').then(() => {
    throw new Error('a process of the bench ended before it said anything')
  })
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message]
  ended.catch(() => undefined)
  return message
}

async function trade(on: TestChain, count: number): Promise<void> {
  const [v2, v3] = [on.pool('uniswap-v2', 'USDC', 'LARK'), on.pool('uniswap-v3', 'WETH', 'LARK')]
  for (let done = 0; done < count; done += PER_BLOCK)
    await on.run(
      ...Array.from({ length: Math.min(PER_BLOCK, count - done) }, (_, at) =>
        at % 2 === 0
          ? on.sellV2(v2, at % 4 === 0 ? 'LARK' : 'USDC', 20)
          : on.sellV3(v3, at % 4 === 1 ? 'LARK' : 'WETH', 20),
      ),
    )
  // All of it is final then, by the tag and by the 65 blocks that other readers require.
  await on.mine(80)
}

/** Every block's receipts, one after another, only parsed. */
async function readReceipts(on: TestChain): Promise<void> {
  const { number } = await on.head()
  for (let block = 0; block <= number; block++)
    await on.rpc('eth_getBlockReceipts', `0x${block.toString(16)}`)
}

async function timed(task: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await task()
  return (performance.now() - startedMs) / 1000
}
