/** After a long stop the chain starts again at its head; a shorter one is walked (R-health-6). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeAll, endpointsOf, follow, forwardClock, keep, resumeOf } from '../testing/following.ts'
import { blockAt, latest, type LocalChain, mine, reorg, startLocalChain } from '../testing/localChain.ts'
import { pass, type RpcProxy, startRpcProxy } from '../testing/rpcProxy.ts'

const MINUTE_S = 60

let chain: LocalChain
let proxy: RpcProxy
beforeEach(async () => {
  chain = keep(await startLocalChain())
  proxy = keep(await startRpcProxy(chain.anvil.url))
  await mine(chain, 10)
})
afterEach(closeAll)

/** Blocks a minute apart; the feed's clock goes with them. */
const { clock, forward } = forwardClock()
async function mineMinutes(blocks: number): Promise<void> {
  await chain.rpc('anvil_mine', `0x${blocks.toString(16)}`, `0x${MINUTE_S.toString(16)}`)
  forward(blocks * MINUTE_S * 1000)
}

const config = () => ({ endpoints: endpointsOf(proxy.url) })
const options = () => ({ config: config(), clock })

/** A consumer with a few blocks, which has stopped. */
async function stopped(blocks = 5) {
  const consumer = await follow(chain, options())
  await consumer.untilTip(await latest(chain))
  for (let n = 1; n < blocks; n++) {
    await mine(chain)
    await consumer.untilTip(await latest(chain))
  }
  await consumer.close()
  proxy.calls.length = 0
  return consumer
}

describe('R-health-6: a feed that resumes a chain', () => {
  it('restarts at the head after more than 35 minutes, with calls that do not grow with the missed blocks', async () => {
    const asked: number[] = []
    for (const missed of [100, 400]) {
      const before = await stopped()
      const { tip } = before
      await mineMinutes(missed)
      const head = await latest(chain)
      const consumer = await follow(chain, { ...options(), after: before })
      await consumer.untilTip(head)
      expect(consumer.of('block')).toEqual([])
      expect(consumer.of('rebase')).toMatchObject([
        { block: { hash: head.hash }, ancestor: { number: tip?.number, hash: tip?.hash } },
      ])
      expect(consumer.health?.status).not.toBe('UNAVAILABLE')
      await mine(chain)
      await consumer.untilTip(await latest(chain))
      expect(consumer.of('block')).toHaveLength(1)
      const isPoll = (tag: unknown): boolean => tag === 'latest' || tag === 'finalized'
      asked.push(proxy.calls.filter(({ params }) => !isPoll(params?.[0])).length)
      await consumer.close()
    }
    for (const calls of asked) expect(calls).toBeLessThan(20)
  })

  it('walks every block of a shorter stop, and of a long one with few blocks', async () => {
    let before = await stopped()
    await chain.rpc('anvil_mine', '0x64', '0x1')
    let consumer = await follow(chain, { ...options(), after: before })
    await consumer.untilTip(await latest(chain))
    expect([consumer.of('rebase'), consumer.of('block').length]).toEqual([[], 100])
    await consumer.close()
    before = await stopped()
    await mineMinutes(60)
    consumer = await follow(chain, { ...options(), after: before })
    await consumer.untilTip(await latest(chain))
    expect([consumer.of('rebase'), consumer.of('block').length]).toEqual([[], 60])
  })

  it('names the newest block that is still on the chain when its own tip was reorganised away', async () => {
    const before = await stopped(8)
    await reorg(chain, 3)
    await mineMinutes(100)
    const consumer = await follow(chain, { ...options(), after: before })
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('rebase')[0]?.ancestor.hash).toBe(before.chain.at(-4)?.hash)
    expect(consumer.of('reorg')).toEqual([])
  })

  it('halts when the block it counts as final is no longer on the chain', async () => {
    const before = await stopped(8)
    const final = before.chain.at(-2)
    if (final === undefined) throw new Error('it has blocks')
    await reorg(chain, 5)
    await mineMinutes(100)
    const resume = resumeOf(before)
    const consumer = await follow(chain, {
      ...options(),
      resume: { ...resume, undoable: resume.undoable.slice(-1), finalized: final },
    })
    await consumer.until('halted', ({ health }) => health?.reasons.includes('HALTED') === true)
    expect(consumer.health?.status).toBe('UNAVAILABLE')
    expect(consumer.items.filter(({ kind }) => kind !== 'health')).toEqual([])
  })

  it('asks again while no endpoint knows the block where it stopped', async () => {
    const before = await stopped()
    const number = before.tip?.number ?? 0
    await mineMinutes(100)
    let refusals = 0
    proxy.rule = (call, fetchAnswer) =>
      call.method === 'eth_getBlockByNumber' && Number(call.params?.[0]) === number && refusals++ < 6
        ? { result: null }
        : fetchAnswer()
    const consumer = await follow(chain, { ...options(), after: before })
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('rebase')[0]?.ancestor.number).toBe(number)
    expect(refusals).toBeGreaterThan(5)
  })

  it('walks when two endpoints have different blocks below the head', async () => {
    const other = keep(await startLocalChain())
    await mine(other, 200)
    const before = await stopped()
    await mineMinutes(100)
    const liar = keep(
      await startRpcProxy(chain.anvil.url, async (call, fetchAnswer) => {
        const number = Number(call.params?.[0])
        const isOdd = call.method === 'eth_getBlockByNumber' && number > (before.tip?.number ?? 0) + 20
        return isOdd ? { result: await blockAt(other, number) } : fetchAnswer()
      }),
    )
    const endpoints = endpointsOf(proxy.url, liar.url)
    const consumer = await follow(chain, { config: { endpoints }, clock, after: before })
    await consumer.until('blocks', each => each.of('block').length >= 20, 30_000)
    expect(consumer.of('rebase')).toEqual([])
  })
})

describe('a feed that follows a chain', () => {
  it('restarts at the head when its endpoint was down for longer than 35 minutes', async () => {
    const consumer = await follow(chain, options())
    await consumer.untilTip(await latest(chain))
    proxy.rule = (_call, _fetch, response) => {
      response.destroy()
      return 'handled'
    }
    await mineMinutes(100)
    await mine(chain)
    proxy.rule = pass
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('rebase')).toHaveLength(1)
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toEqual([])
  })

  it('restarts once more when the head it started from is reorganised away, however deep', async () => {
    const before = await stopped()
    await mineMinutes(100)
    const consumer = await follow(chain, { ...options(), after: before })
    await consumer.untilTip(await latest(chain))
    await mine(chain)
    await consumer.untilTip(await latest(chain))
    for (const depth of [2, 4]) {
      await reorg(chain, depth)
      await mine(chain)
      await consumer.untilTip(await latest(chain))
    }
    const rebases = consumer.of('rebase')
    expect(rebases.length).toBeGreaterThanOrEqual(2)
    expect(new Set(rebases.map(({ ancestor }) => ancestor.hash))).toEqual(new Set([before.tip?.hash]))
    expect(consumer.health?.reasons).not.toContain('HALTED')
  })

  it('reorganises the blocks after the head it started from, also after a restart', async () => {
    const before = await stopped()
    await mineMinutes(100)
    const consumer = await follow(chain, { ...options(), after: before })
    await consumer.untilTip(await latest(chain))
    await mine(chain, 3)
    await consumer.untilTip(await latest(chain))
    await reorg(chain, 2)
    await consumer.untilTip(await latest(chain))
    expect(consumer.of('reorg')).toHaveLength(1)
    await consumer.close()
    const [rebase] = consumer.of('rebase')
    if (rebase === undefined) throw new Error('it started again')
    const after = consumer.chain.slice(consumer.chain.findIndex(({ hash }) => hash === rebase.block.hash) + 1)
    const undoable = after.map(({ number, hash, timeMs, parentHash }) => ({
      number,
      hash,
      timeMs,
      parentHash,
    }))
    const resume = { ...resumeOf(consumer), undoable, beforeGap: rebase.ancestor }
    await reorg(chain, 5)
    await mine(chain)
    const again = await follow(chain, { ...options(), after: consumer, resume })
    await again.untilTip(await latest(chain))
    expect(again.of('rebase')).toMatchObject([{ ancestor: rebase.ancestor }])
  })
})
