import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Consumer } from './testing/consumer.ts'
import { closeAll, follow, keep, start } from './testing/following.ts'
import {
  blockAt,
  latest,
  type LocalChain,
  mine,
  reorg,
  type RpcBlock,
  startLocalChain,
} from './testing/localChain.ts'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain({ slotsInAnEpoch: 2 })
  await mine(chain, 10)
})
afterAll(() => chain.close())
afterEach(closeAll)

const depth = (blocks: number) => ({ finality: { kind: 'depth', depth: blocks } }) as const

// The consumer itself fails when a final block is lower than the last one or not on its chain.
describe('finality', () => {
  it('by the tag moves up only, and begins with blocks that were given', async () => {
    const consumer = await follow(chain)
    await consumer.untilTip(await latest(chain))
    expect(consumer.finalized).toBeNull()
    for (const blocks of [6, 3, 1, 8]) {
      await mine(chain, blocks)
      const { number, hash } = await chain.rpc<RpcBlock>('eth_getBlockByNumber', 'finalized', false)
      await consumer.until(`final ${number}`, ({ finalized }) => finalized?.hash === hash)
    }
    await consumer.until('health', ({ health }) => health !== undefined)
  })

  it('by depth counts from the committed tip', async () => {
    const consumer = await follow(chain, { config: depth(3) })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 5)
    const { hash } = await blockAt(chain, Number((await latest(chain)).number) - 3)
    await consumer.until('final', ({ finalized }) => finalized?.hash === hash)
  })

  it('is not said of blocks that were taken and never committed', async () => {
    const feed = await start(chain, { config: depth(0) })
    const consumer = keep(new Consumer(feed, { commits: false }))
    await consumer.untilTip(await latest(chain))
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('finalize')).toEqual([])
    const second = consumer.chain[1]
    if (second === undefined) throw new Error('no second block')
    feed.processed(second)
    await consumer.until('final', ({ finalized }) => finalized?.hash === second.hash)
  })

  it('reaches a consumer far behind the finalized block block by block, not at the end', async () => {
    const before = await follow(chain)
    await before.untilTip(await latest(chain))
    await closeAll()
    await mine(chain, 40)
    const feed = await start(chain, { resume: { tip: tipOf(before), undoable: [], finalized: null } })
    const consumer = keep(new Consumer(feed, { commits: false, history: before.chain }))
    await consumer.until('eight blocks', ({ chain: blocks }) => blocks.length > 8)
    const fifth = consumer.chain.at(-4)
    if (fifth === undefined) throw new Error('no fifth block')
    feed.processed(fifth)
    await consumer.until('final', ({ finalized }) => finalized?.hash === fifth.hash)
  })

  it('halts a reorganisation below it', async () => {
    const consumer = await follow(chain, { config: depth(1) })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 4)
    const { hash } = await blockAt(chain, Number((await latest(chain)).number) - 1)
    await consumer.until('final', ({ finalized }) => finalized?.hash === hash)
    await reorg(chain, 2)
    await consumer.until('HALTED', ({ health }) => health?.reasons[0] === 'HALTED')
  })
})

function tipOf({ tip }: Consumer) {
  if (tip === undefined) throw new Error('no tip')
  return tip
}
