import { describe, expect, it } from 'vitest'
import { chainOfFile, closeAll, endpointsOf, follow, keep, refOf, resumeOf } from '../testing/following.ts'
import type { Consumer } from '../testing/consumer.ts'
import { latest, LOGGER, mine, mineTransactions, reorg, startLocalChain } from '../testing/localChain.ts'
import { pass, startRpcProxy } from '../testing/rpcProxy.ts'

const chain = await chainOfFile(10)

/** A consumer that has the current head and `blocks` more. */
async function followed(blocks: number, url = chain.anvil.url): Promise<Consumer> {
  const consumer = await follow(chain, { config: { endpoints: endpointsOf(url) } })
  await consumer.untilTip(await latest(chain))
  if (blocks === 0) return consumer
  await mine(chain, blocks)
  await consumer.untilTip(await latest(chain))
  return consumer
}

describe('a reorganisation', () => {
  it.each([
    ['http', 1],
    ['http', 3],
    ['http', 7],
    ['ws', 1],
    ['ws', 3],
    ['ws', 7],
  ] as const)(
    'over %s of depth %i is delivered as one item, with the available part of its branch',
    async (kind, depth) => {
      const consumer = await followed(8, kind === 'http' ? chain.anvil.url : chain.anvil.wsUrl)
      const before = consumer.chain.map(refOf)
      // Anvil replaces them by as many: the height stays and only hashes tell.
      await reorg(chain, depth)
      const head = await latest(chain)
      expect(Number(head.number)).toBe(before.at(-1)?.number)
      await consumer.untilTip(head)
      const [item, ...more] = consumer.of('reorg')
      expect(more).toEqual([])
      expect(item?.ancestor).toBe(before.at(-1 - depth)?.hash)
      // Anvil announces the branch block by block: what was not there yet when it was fetched follows as blocks.
      const after = consumer.items.slice(consumer.items.findIndex(({ kind }) => kind === 'reorg') + 1)
      const blocks = after.filter(({ kind }) => kind === 'block')
      expect((item?.blocks.length ?? 0) + blocks.length).toBe(depth)
    },
  )

  it.each([
    ['http', 1],
    ['http', 7],
    ['ws', 3],
    ['ws', 7],
  ] as const)(
    'that is over when it is detected, over %s of depth %i, is delivered with its whole branch',
    async (kind, depth) => {
      const url = kind === 'http' ? chain.anvil.url : chain.anvil.wsUrl
      const before = await followed(8, url)
      const ancestor = before.chain.at(-1 - depth)?.hash
      await closeAll()
      await reorg(chain, depth)
      const consumer = await follow(chain, { after: before, config: { endpoints: endpointsOf(url) } })
      await consumer.untilTip(await latest(chain))
      expect(consumer.of('reorg')).toMatchObject([{ ancestor, blocks: { length: depth } }])
      expect(consumer.of('block')).toEqual([])
    },
  )

  it('to a shorter branch is one too', async () => {
    const consumer = await followed(0)
    const ancestor = await latest(chain)
    const snapshot = await chain.rpc('evm_snapshot')
    await mine(chain, 5)
    await consumer.untilTip(await latest(chain))
    await chain.rpc('evm_revert', snapshot)
    await mineTransactions(chain, [{ to: LOGGER }])
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toMatchObject([
      { ancestor: ancestor.hash, blocks: [{ logs: { length: 3 } }] },
    ])
  })

  it('may replace the first delivered block', async () => {
    const consumer = await followed(0)
    const first = await latest(chain)
    await reorg(chain, 1)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toMatchObject([{ ancestor: first.parentHash, blocks: { length: 1 } }])
  })

  it('while the feed was closed is found on resume, and then the blocks after it', async () => {
    const before = await followed(6)
    await closeAll()
    await reorg(chain, 4)
    await mine(chain, 12)
    const consumer = await follow(chain, { after: before })
    await consumer.untilTip(await latest(chain))
    const ancestor = before.chain.at(-5)?.hash
    expect(consumer.items.find(({ kind }) => kind !== 'health')).toMatchObject({ kind: 'reorg', ancestor })
    expect(consumer.of('reorg')).toHaveLength(1)
  })

  it('delivers the linked part of its branch when a response is of another fork', async () => {
    const before = await followed(6)
    await closeAll()
    await mine(chain, 3)
    const orphan = await latest(chain)
    const wrong = Number(orphan.number)
    await reorg(chain, 7)
    await mine(chain, 3)
    // A cache in front of the node still has what was at this number.
    const proxy = keep(
      await startRpcProxy(chain.anvil.url, (call, fetchAnswer) => {
        if (call.params[0] === orphan.number) return { result: orphan }
        return call.params[0] === orphan.hash ? { result: [] } : fetchAnswer()
      }),
    )
    const consumer = await follow(chain, { after: before, config: { endpoints: endpointsOf(proxy.url) } })
    await consumer.until('the branch', ({ tip }) => tip?.number === wrong - 1)
    proxy.rule = pass
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toHaveLength(1)
  })

  it('while another one is being fetched ends on the surviving chain', async () => {
    const proxy = keep(await startRpcProxy(chain.anvil.url))
    const consumer = await followed(8, proxy.url)
    const depths = [4, 3]
    let further = 0
    let turn: Promise<unknown> = Promise.resolve()
    proxy.rule = async (call, fetchAnswer) => {
      const depth = call.method === 'eth_getBlockReceipts' ? depths.pop() : undefined
      if (depth === undefined) return fetchAnswer()
      // One after the other: two at once leave Anvil with blocks that do not link up.
      turn = turn.then(() => reorg(chain, depth))
      await turn
      further++
      return fetchAnswer()
    }
    turn = reorg(chain, 5)
    await turn
    await expect.poll(() => further).toBe(2)
    await consumer.untilTip(await latest(chain))
  })
})

describe('a reorganisation down to the finalized block', () => {
  it('is undone when it stops above it', async () => {
    const before = await followed(5)
    const { tip, undoable } = resumeOf(before)
    await closeAll()
    await reorg(chain, 3)
    const finalized = undoable.at(-4) ?? null
    const resume = { tip, undoable: undoable.slice(-3), finalized }
    const consumer = await follow(chain, { after: before, resume })
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toMatchObject([{ ancestor: finalized?.hash, blocks: { length: 3 } }])
  })

  it('halts the feed when it goes below, and nothing is delivered', async () => {
    const before = await followed(5)
    const { tip, undoable } = resumeOf(before)
    await closeAll()
    await reorg(chain, 4)
    await mine(chain)
    const resume = { tip, undoable: undoable.slice(-3), finalized: undoable.at(-4) ?? null }
    const consumer = await follow(chain, { after: before, resume })
    await consumer.until('HALTED', ({ health }) => health?.reasons[0] === 'HALTED')
    expect(consumer.health?.status).toBe('UNAVAILABLE')
    expect(consumer.items.filter(({ kind }) => kind !== 'health')).toEqual([])
  })

  it('halts an open feed at a limit of its own', async () => {
    const consumer = await follow(chain, { maxUndoBlocks: 2 })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 6)
    await consumer.untilTip(await latest(chain))
    await reorg(chain, 3)
    await consumer.until('HALTED', ({ health }) => health?.reasons[0] === 'HALTED')
    expect(consumer.of('reorg')).toEqual([])
  })

  it('that only one node has seen is that node’s fault', async () => {
    // Two histories from the same first block.
    const timestamp = Math.floor(Date.now() / 1000) - 10
    const ours = keep(await startLocalChain({ timestamp }))
    const other = keep(await startLocalChain({ timestamp }))
    await mine(ours, 4)
    await other.rpc('anvil_setCoinbase', LOGGER)
    await mine(other, 8)
    const before = await follow(ours)
    await before.untilTip(await latest(ours))
    const endpoints = endpointsOf(other.anvil.url, ours.anvil.url)
    const consumer = await follow(ours, { after: before, config: { endpoints } })
    await mine(ours)
    await consumer.untilTip(await latest(ours))
    expect(consumer.of('reorg')).toEqual([])
    expect(consumer.healths.flatMap(({ reasons }) => reasons)).not.toContain('HALTED')
  })
})
