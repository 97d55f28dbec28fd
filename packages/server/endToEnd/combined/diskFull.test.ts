/** The disk fills up while a back-fill runs: both it and the chain stop writing, reads still work, and with space both resume. */
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RpcProxy, startRpcProxy } from '../../feed/testing/rpcProxy.ts'
import { mountSmallDisk, type SmallDisk } from '../../store/testing/smallDisk.ts'
import { IS_LONG, sized } from '../testing/combined.ts'
import { cursorAfter, Heard } from '../testing/heard.ts'
import { CHAIN_ID, planWith } from '../testing/plan.ts'
import { isSwap } from '../testing/record.ts'
import { roomyClient } from '../testing/roomy.ts'
import { type Block, type Hex, startTestChain, type TestChain } from '../testing/testChain.ts'
import { startTestService, type TestService } from '../testing/testService.ts'
import { until } from '../testing/until.ts'

const MIB = 1024 * 1024
/** Commits stop below 128 MiB: the disk has more, and with the ballast less. */
const [DISK_MIB, BALLAST_MIB] = [192, 96]
const FLOOR_BYTES = 128 * MIB
/** Blocks with a trade at each end of the past, and so many between them that they fall into different parts of a back-fill. */
const [TRADES, BETWEEN] = sized([5, 160], [100, 600])
/** Blocks a node of this test gives logs of at once. */
const RANGE = 16

let chain: TestChain
let proxy: RpcProxy
let service: TestService
let disk: SmallDisk | { readonly refused: string }
let pair: Hex
beforeAll(async () => {
  chain = await startTestChain(planWith(), { keptBlocks: 2 * BETWEEN })
  pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
  disk = mountSmallDisk(DISK_MIB)
})
afterAll(async () => {
  await service?.close()
  await proxy?.close()
  await chain?.close()
  if (disk !== undefined && 'dispose' in disk) disk.dispose()
})

/** Sync(uint112,uint112) */
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1'

const trade = (usd: number): Promise<Block> => chain.run(chain.sellV2(pair, 'MOTH', usd))

it('a disk that fills up during a back-fill stops both writers and no reader, is reported, and both resume with space', async () => {
  // Without the right to mount there is no small disk to fill.
  if ('refused' in disk) return expect(disk.refused).toMatch(/permi|superuser|ENOENT/i)
  const past: Block[] = []
  for (let at = 0; at < TRADES; at++) past.push(await trade(10 + at))
  await chain.mine(BETWEEN)
  for (let at = 0; at < TRADES; at++) past.push(await trade(10 + at))
  await chain.mine(12)
  const [first, last] = [past[0], past.at(-1)] as [Block, Block]
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  proxy = await startRpcProxy(chain.world.url, async (call, fetchAnswer) => {
    const [asked] = call.params as [{ fromBlock?: Hex; toBlock?: Hex; topics?: [Hex[]] } | undefined]
    if (call.method !== 'eth_getLogs' || asked?.fromBlock === undefined) return fetchAnswer()
    if (Number(asked.toBlock) - Number(asked.fromBlock) >= RANGE)
      return { error: { code: -32_000, message: 'range' } }
    // Creations of pools are looked for before.
    const isEvents = asked.topics?.[0].includes(SYNC) === true
    if (isEvents && Number(asked.toBlock) > (first.number + last.number) / 2) await held
    return fetchAnswer()
  })
  const store = `sqlite:${join(disk.folder, 'assay.db')}`
  service = await startTestService(chain, { name: 'full', store, endpoints: [proxy.url] })
  const client = await roomyClient(service)
  const stored = async () => (await client.admin.fetchBackfills()).backfills[0]
  await client.admin.startBackfill({ chain_id: CHAIN_ID })
  await until('a part of the past', async () => ((await stored())?.events ?? 0) > 0)

  const ballast = join(disk.folder, 'ballast')
  writeFileSync(ballast, Buffer.alloc(BALLAST_MIB * MIB))
  const { bavail, bsize } = statfsSync(disk.folder)
  expect(bavail * bsize).toBeLessThan(FLOOR_BYTES)
  const before = await service.head()
  const missed = await trade(500)
  release()
  await until('the chain reports why it stopped', () =>
    service.faults.some(line => line.includes('MiB left')),
  )
  await until('not ready', async () => (await fetch(`${service.url}/readyz`)).status === 503)
  const waiting = await until('the back-fill reports what it waits for', async () => {
    const seen = await stored()
    return seen?.error?.includes('MiB left') === true && seen
  })
  expect(waiting.status).toBe('RUNNING')
  if (IS_LONG) {
    const reported = await until('health reports it', async () => {
      const seen = await client.fetchHealth({ chain_id: CHAIN_ID })
      return seen.status === 'UNAVAILABLE' && seen
    })
    expect(reported.reasons).toContain('WORKER_SILENT')
  }
  // Neither the chain nor the back-fill writes; readers and reconnecting clients are served.
  expect(await service.head()).toBe(before)
  expect((await stored())?.next_block).toBe(waiting.next_block)
  expect(await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('MOTH') })).toBeTruthy()
  const another = await service.client()
  const heard = new Heard(another, {
    filter: { chain_ids: [CHAIN_ID] },
    resumeCursor: await cursorAfter(another, CHAIN_ID, 0),
  })
  await heard.untilSequence(before)

  rmSync(ballast)
  const done = await until('the back-fill done', async () => {
    const seen = await stored()
    return seen?.status === 'DONE' && seen
  })
  expect(done.error).toBeNull()
  await service.untilTip(await chain.head())
  await until('the trade of then', () =>
    heard.records.some(each => isSwap()(each) && each.payload.block_hash === missed.hash),
  )
  expect(heard.outcome).toBeNull()
  expect(heard.sequences).toEqual(heard.sequences.map((_, at) => at + 1))
  await heard.close()
  const events = await service.store.readEvents({
    chainId: CHAIN_ID,
    poolAddress: pair,
    kind: 'SWAP',
    fromBlock: null,
    toBlock: null,
    before: null,
    limit: 1000,
  })
  const swaps = events.map(({ blockHash }) => blockHash)
  for (const { hash } of past) expect(swaps.filter(each => each === hash)).toHaveLength(1)
})
