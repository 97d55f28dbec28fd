/** Look-backs over HTTP against a node with a past: what they cost, and that what comes of them is what happened. */
import { createState, type Input, type LoadedPool, step } from '@assay/engine'
import { afterEach, describe, expect, it } from 'vitest'
import { changesOf } from '../../../engine/memory/temporalTape.ts'
import { ChainSim } from '../../../engine/testing/chainSim.ts'
import {
  type PoolSpec,
  seeded,
  seedPool,
  SETUP,
  TOKENS,
  trade,
  USDC,
  WETH,
} from '../../../engine/testing/randomMarket.ts'
import { createPastReader } from '../../feed/history/pastReader.ts'
import { openEndpoints } from '../../feed/endpoints/openEndpoints.ts'
import type { Market } from '../../market/market.ts'
import { TOPIC } from '../../market/v4/logs.ts'
import { systemClock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Hex } from '../../ops/hex.ts'
import { Secret } from '../../ops/secret.ts'
import { MANAGER, type TickFamily } from '../../../engine/testing/tickFamilies.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { LookBacks } from './lookBacks.ts'
import { type NodeLimits, type PastNode, startPastNode } from '../testing/pastNode.ts'

type Block = Extract<Input, { kind: 'block' }>['block']

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const { signal } = new AbortController()
/** Whose pools log for themselves, and not in the contract of a manager. */
const OWN: readonly TickFamily[] = ['amm_v3', 'amm_v3_pancake', 'amm_algebra_v1']
const HELD: readonly TickFamily[] = ['amm_v4']
const MINUTE = 60_000
const refOf = ({ number, hash, timeMs }: Block) => ({ number, hash, timeMs })

type Past = {
  readonly pools: readonly PoolSpec[]
  readonly blocks: readonly Block[]
  readonly sims: ReadonlyMap<Hex, ChainSim>
  readonly end: Block
  readonly atEnd: ChainSim
}

/** 50 pools, those with ticks of these families, and 45 minutes of blocks of which a few have trades. Block times are whole seconds, as on a chain. */
function pastOf(blockTimeMs: number, families = OWN, seed = 1): Past {
  const random = seeded(seed)
  const sim = new ChainSim({ startMs: 1_700_000_000_000, number: 0 })
  const pools: PoolSpec[] = []
  const isHeld = families === HELD
  for (let n = 0; n < 50; n++)
    seedPool(
      random,
      sim,
      pools,
      [
        101 + n,
        n % 2 === 0 ? USDC : WETH,
        TOKENS[n % 4] as Hex,
        n % 3 === 0 && !isHeld ? 'v2' : 'v3',
        isHeld ? 'v4' : `d${n}`,
      ],
      families,
    )
  sim.forget()
  const blocks: Block[] = []
  const sims = new Map<Hex, ChainSim>()
  const total = Math.ceil((45 * MINUTE) / blockTimeMs)
  const second = (n: number) => Math.floor((n * blockTimeMs) / 1000) * 1000
  for (let n = 1; n <= total; n++) {
    if (n > total / 20 && random.chance(150 / total)) trade(random, sim, pools)
    blocks.push(sim.mine({ afterMs: second(n) - second(n - 1) }))
    const age = ((total - n) * blockTimeMs) / MINUTE
    if (age > 34.5 && age < 37.5) sims.set((blocks.at(-1) as Block).hash, sim.fork('s'))
  }
  return { pools, blocks, sims, end: blocks.at(-1) as Block, atEnd: sim }
}

async function lookBacksOver(
  blockTimeMs: number,
  past: Past,
  nodes: readonly NodeLimits[],
  isPruned = false,
): Promise<{
  nodes: readonly PastNode[]
  read: () => ReturnType<LookBacks['read']>
  look: () => Promise<ReturnType<typeof outcome>>
  readAt: Hex[]
}> {
  const chainId = 1
  const genesis = { ...(past.blocks[0] as Block), number: 0, hash: `0x${'00'.repeat(31)}99` } as Block
  const started: PastNode[] = []
  for (const limits of nodes) {
    const node = await startPastNode(chainId, [genesis, ...past.blocks], limits)
    closing.push(node.close)
    started.push(node)
  }
  const chain = {
    chainId,
    blockTimeMs,
    genesisHash: genesis.hash,
    endpoints: started.map(({ url }, at) => ({ name: `node ${at}`, url: new Secret(url) })),
    deployments: [{ deploymentId: 'v4', family: 'amm_v4', factoryAddress: MANAGER, wrappedNative: WETH }],
  } as unknown as ChainConfig
  const { endpoints, close } = openEndpoints(chain, systemClock)
  closing.push(close)
  for (const endpoint of endpoints.all) await endpoint.open(signal)
  const readAt: Hex[] = []
  const market = {
    recheck: async (pools, block) => {
      readAt.push(block.hash)
      const sim = past.sims.get(block.hash)
      if (sim === undefined || isPruned) throw new RangeError('missing trie node')
      return pools.map(({ address }) => ({ address, state: sim.amm(address) }))
    },
  } as Pick<Market, 'recheck'> as Market
  const state = createState(SETUP)
  const reader = createPastReader(endpoints, signal)
  const lookBacks = new LookBacks({ chain, state, reader, log: QUIET })
  const loaded = past.pools.map(({ address }): LoadedPool => past.atEnd.loaded(address))
  const means = { market, signal }
  const read = () =>
    lookBacks.read(
      loaded.map(({ pool }) => pool),
      refOf(past.end),
      means,
    )
  return {
    nodes: started,
    readAt,
    read,
    look: async () => {
      const window = await read()
      return outcome(window === null ? null : await lookBacks.fold(window, loaded, means))
    },
  }
}

const outcome = (folded: Awaited<ReturnType<LookBacks['fold']>>) =>
  folded === null ? null : (folded.atTip(() => [])?.pools ?? null)

const count = ({ asked }: PastNode, method: string) => asked.filter(each => each === method).length

/** A service that began to follow at this block. */
function followed({ pools, blocks, sims, end, atEnd }: Past, from: Hex) {
  const state = createState(SETUP)
  const at = blocks.findIndex(({ hash }) => hash === from)
  const start = blocks[at] as Block
  const load = (sim: ChainSim, block: Block) =>
    step(state, {
      kind: 'load',
      atMs: block.timeMs,
      block: refOf(block),
      pools: pools.map(({ address }) => sim.loaded(address)),
    })
  step(state, { kind: 'block', atMs: start.timeMs, block: { ...start, events: [] } })
  load(sims.get(from) as ChainSim, start)
  for (const block of blocks.slice(at + 1)) step(state, { kind: 'block', atMs: block.timeMs, block })
  load(atEnd, end)
  return state
}

const image = ({
  history,
  past: _past,
  ...state
}: ReturnType<typeof followed>['pools'] extends Map<Hex, infer P>
  ? P extends { state: infer S }
    ? S
    : never
  : never) => ({ ...state, history: changesOf(history) })

describe('a look-back of 50 pools on an endpoint with 1,000-block ranges', () => {
  it.each([
    ['chain 1', 12_048, 4, 'own', OWN],
    ['chain 56', 450, 8, 'own', OWN],
    ['chain 42161', 250, 12, 'own', OWN],
    ['chain 1', 12_048, 4, 'one manager’s', HELD],
    ['chain 42161', 250, 12, 'one manager’s', HELD],
  ] as const)(
    'R-history-6: costs %s no more calls for logs than allowed, and is exact: %i ms, %i calls, %s pools',
    async (_, blockTimeMs, most, _whose, families) => {
      const past = pastOf(blockTimeMs, families)
      const { nodes, look } = await lookBacksOver(blockTimeMs, past, [{ mostBlocks: 1000 }])
      const [node] = nodes as [PastNode]
      const back = await look()
      expect(count(node, 'eth_getLogs')).toBeLessThanOrEqual(most)
      expect(back).toHaveLength(50)
      const first = (back?.[0]?.logs.fromBlock ?? 0) - 1
      const start = past.blocks.find(({ number }) => number === first) as Block
      expect(past.end.timeMs - start.timeMs).toBeGreaterThanOrEqual(35 * MINUTE)
      expect(past.end.timeMs - start.timeMs).toBeLessThan(37 * MINUTE)
      const live = followed(past, start.hash)
      for (const { pool, state } of back ?? []) {
        expect(image(state)).toEqual(image(live.pools.get(pool.address)!.state))
        expect(state.past).toMatchObject({ kind: 'READ', isProven: false, times: 'EXACT' })
      }
      // What the endpoint takes is known by now.
      node.asked.length = 0
      await look()
      expect(count(node, 'eth_getLogs')).toBeLessThanOrEqual(Math.ceil((36 * MINUTE) / blockTimeMs / 1000))
    },
  )

  it('R-history-6: requests all pools of a manager at once, and no other pool of it', async () => {
    const past = pastOf(12_048, HELD)
    const some = past.pools.slice(0, 20)
    const { nodes, look } = await lookBacksOver(12_048, { ...past, pools: some }, [{ mostBlocks: 1000 }])
    expect(await look()).toHaveLength(20)
    const [{ filters }] = nodes as [PastNode]
    expect(filters.map(({ address }) => address)).toEqual([[MANAGER]])
    const [topics, ids] = filters[0]?.topics ?? []
    expect(ids).toEqual(some.map(({ address }) => address))
    expect(topics).toContain(TOPIC.swap)
  })

  it('R-history-6: uses the range that a refusal names, and block times included with the logs', async () => {
    const past = pastOf(250)
    const refusal = 'exceed maximum block range: 3,000'
    const { nodes, look } = await lookBacksOver(250, past, [{ mostBlocks: 3000, refusal, saysTimes: true }])
    expect(await look()).toHaveLength(50)
    const [node] = nodes as [PastNode]
    expect(count(node, 'eth_getLogs')).toBe(4)
    // Only to find where the window begins, and to know the node.
    expect(count(node, 'eth_getBlockByNumber')).toBeLessThanOrEqual(4)
  })
})

describe('which results are believed', () => {
  it('R-history-5: two endpoints that agree prove it; one that omits a log does not', async () => {
    const past = pastOf(12_048)
    const isProven = async (nodes: readonly NodeLimits[]) => {
      const { look } = await lookBacksOver(12_048, past, nodes)
      return (await look())?.map(({ state }) => state.past?.isProven)
    }
    expect(new Set(await isProven([{ mostBlocks: 1000 }, { mostBlocks: 50 }]))).toEqual(new Set([true]))
    const last = past.blocks.findLast(({ events }) => events.length > 0)?.events.at(-1)
    const leavesOut = (event: Block['events'][number]) => event === last
    const some = await isProven([{ mostBlocks: 1000 }, { mostBlocks: 1000, leavesOut }])
    expect(new Set(some)).toEqual(new Set([false]))
  })

  it('R-history-4: a pool whose last event is withheld has no history, and the others have theirs', async () => {
    const past = pastOf(12_048)
    const events = past.blocks.flatMap(block => block.events)
    const last = events.findLast(({ family, event }) => family === 'amm_v2' && event.kind === 'SYNC')
    const { look } = await lookBacksOver(12_048, past, [
      { mostBlocks: 1000, leavesOut: event => event === last },
    ])
    const back = await look()
    const names = back?.map(({ pool }) => pool.address)
    expect(names).toEqual(past.pools.map(({ address }) => address).filter(each => each !== last?.pool))
  })

  it('R-history-2: when the node has no old state the last event before the window is searched for', async () => {
    const past = pastOf(12_048)
    const { look, nodes } = await lookBacksOver(12_048, past, [{ mostBlocks: 1000 }], true)
    const back = await look()
    const kinds = back?.map(({ state }) => state.past?.kind) ?? []
    expect(kinds).toContain('READ')
    expect(kinds).toContain('SHORT')
    expect(count((nodes as [PastNode])[0], 'eth_getLogs')).toBeLessThanOrEqual(1 + 4)
  })

  it.each([
    ['read at its start', false],
    ['found in an older event', true],
  ])('R-history-6: ticks are read as far as the price before the window, %s', async (_, isPruned) => {
    const past = pastOf(12_048)
    const { read } = await lookBacksOver(12_048, past, [{ mostBlocks: 1000 }], isPruned)
    const window = await read()
    const at = past.blocks.findIndex(({ timeMs }) => past.end.timeMs - timeMs < 34.5 * MINUTE)
    const events = past.blocks.map(block => block.events)
    const [older, within] = [events.slice(0, at).flat(), events.slice(at).flat()]
    const ticksOf = (pool: Hex, of: typeof older) =>
      of.flatMap(each => (each.pool === pool && 'tick' in each.event ? [each.event.tick] : []))
    let compared = 0
    for (const { address } of past.pools) {
      const [before, first] = [ticksOf(address, older).at(-1), ticksOf(address, within)[0]]
      if (before === undefined || first === undefined) continue
      const { lowest, highest } = window!.spans.get(address)!
      expect([lowest <= before, highest >= before]).toEqual([true, true])
      if (before !== first) compared++
    }
    expect(compared).toBeGreaterThan(5)
  })

  it('R-history-4, R-history-6: an endpoint that would cost more than 60 calls is abandoned', async () => {
    const past = pastOf(250)
    const { look, nodes } = await lookBacksOver(250, past, [{ mostBlocks: 50 }])
    expect(await look()).toBe(null)
    expect((nodes as [PastNode])[0].asked.length).toBeLessThanOrEqual(62)
  })
})
