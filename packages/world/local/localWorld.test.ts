import { existsSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Hex, hexToBytes } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { anvilBinary } from '../anvil.ts'
import { priceFeedAbi } from '../contracts/abi.ts'
import { connect } from '../client.ts'
import { MULTICALL3 } from '../multicall3.ts'
import { profileOf } from '../proxy/profiles.ts'
import { ChainNode } from './chainNode.ts'
import { WORLD } from './chains.ts'
import { type LocalWorld, startWorld, type WorldChain, type WorldOptions } from './localWorld.ts'
import { startClock } from './worldClock.ts'
import { type ServedChain, worldConfig } from './worldConfig.ts'
import type { ChainPlan } from './plan.ts'
import type { PoolPrice } from './families/family.ts'
import { readPrice, toNumber } from './poolMove.ts'
import { StateFile } from './stateFile.ts'

/** The smallest of those of one kind of pool. */
const SMALL = WORLD.find(({ chainId }) => chainId === 43_114) as ChainPlan

/** The most blocks that `start_behind_s` stands for. */
const START_BEHIND = 64

let folder: string
let world: LocalWorld | null = null
async function start(options: Partial<WorldOptions> = {}): Promise<WorldChain> {
  world = await startWorld({ folder, plans: [SMALL], isLive: false, ...options })
  return world.chains[0] as WorldChain
}
async function stop(): Promise<void> {
  await world?.close()
  world = null
}
/** A node that is renewed is away for its time. */
const PATIENT = { timeout: 60_000 } as const
const anHourAgo = { hurry: 1, nowS: () => Math.floor(Date.now() / 1000) - 3600 }
const headOf = ({ client }: WorldChain) => client.getBlock({ blockTag: 'latest' })

/** How many words the contracts of a chain have stored. */
async function slotsOf({ client }: WorldChain): Promise<number> {
  const { accounts } = JSON.parse(gunzipSync(hexToBytes(await client.dumpState())).toString()) as {
    readonly accounts: Readonly<Record<string, { readonly storage: object }>>
  }
  return Object.values(accounts).reduce((sum, { storage }) => sum + Object.keys(storage).length, 0)
}

/** How far the pools of each token are apart, in dollars of the traders' own view of its partners. */
async function spreads({ plan, seeded, client, traders }: WorldChain): Promise<Map<string, number>> {
  const prices = await Promise.all(seeded.pools.map(pool => readPrice(client, pool)))
  const spread = new Map<string, number>()
  for (const { symbol } of plan.tokens.filter(({ role }) => role === 'TOKEN')) {
    const off = seeded.pools.flatMap((pool, at) => {
      const price = toNumber(prices[at] as PoolPrice)
      const isOwn = pool.token0.symbol === symbol || pool.token1.symbol === symbol
      return isOwn && price !== null ? [Math.abs(price / traders.fairPrice(pool) - 1)] : []
    })
    spread.set(symbol, Math.max(...off))
  }
  return spread
}

describe('the world', () => {
  let all: LocalWorld
  let place: string
  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'assay-world-'))
    all = await startWorld({ folder: place })
  })
  afterAll(async () => {
    await all?.close()
    rmSync(place, { recursive: true, force: true })
  })

  it('has the six chains, each with its own genesis and some seventy tokens in all', () => {
    expect(all.chains.map(({ plan }) => plan.chainId)).toEqual([1, 42_161, 56, 137, 43_114, 8453])
    expect(all.chains.map(({ plan }) => plan.blockTimeS)).toEqual([12, 1, 1, 2, 1, 2])
    expect(new Set(all.chains.map(({ genesisHash }) => genesisHash)).size).toBe(6)
    const tail = all.chains.flatMap(({ plan }) => plan.tokens.filter(({ role }) => role === 'TOKEN'))
    expect(tail).toHaveLength(68)
    expect(new Set(tail.map(({ address }) => address)).size).toBe(68)
    const fees = new Set(all.chains.flatMap(({ plan }) => plan.pools.map(pool => pool.feePpm)))
    expect([...fees].sort()).toEqual([10_000, 2500, 3000, 500, undefined])
    const v2on56 = all.chains[2]?.plan.deployments.filter(({ family }) => family === 'amm_v2')
    expect(v2on56?.map(({ factory }) => factory)).toEqual([
      '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73',
      '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6',
    ])
  })

  it('has code at every factory, token and feed and at Multicall3, and known pools at their real addresses', async () => {
    for (const { plan, client, seeded } of all.chains) {
      const sites: Hex[] = [
        MULTICALL3,
        ...plan.deployments.map(({ factory }) => factory),
        ...plan.tokens.map(({ address }) => address),
        ...plan.tokens.flatMap(({ feed }) => feed ?? []),
        ...(plan.sequencerFeed === undefined ? [] : [plan.sequencerFeed]),
      ]
      const codes = await Promise.all(sites.map(address => client.getCode({ address })))
      expect(codes.every(code => code !== undefined && code.length > 2)).toBe(true)
      for (const [symbol, feed] of Object.entries(seeded.feeds))
        expect(feed).toBe(plan.tokens.find(token => token.symbol === symbol)?.feed)
    }
    // The native asset with the first stable at 0.05%, and on chain 56 at Uniswap v2: addresses of the live chains.
    const addresses = all.chains.flatMap(({ seeded }) => seeded.pools.map(({ address }) => address))
    for (const known of [
      '0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640',
      '0xC6962004f452bE9203591991D15f6b388e09E8D0',
      '0xB6e57ed85c4c9dbfEF2a68711e9d6f36c56e0FcB',
      '0xfAe3f424a0a47706811521E3ee268f00cFb5c45E',
      '0x8a1Ed8e124fdFBD534bF48baF732E26db9Cc0Cf4',
      '0xB4e16d0168e52d35CaCD2c6185b44281Ec28C9Dc',
      '0xd0b53D9277642d899DF5C87A3966A349A798F224',
      '0x88A43bbDF9D098eEC7bCEda4e2494615dfD9bB9C',
      '0xB775272E537cc670C65DC852908aD47015244EaF',
    ])
      expect(addresses).toContain(known)
  })

  it('has traded for forty minutes, and most in the last five', async () => {
    for (const chain of all.chains) {
      const head = await headOf(chain)
      const blocks = await Promise.all(
        Array.from({ length: Number(head.number) + 1 }, (_, at) =>
          chain.client.getBlock({ blockNumber: BigInt(at) }),
        ),
      )
      const ages = blocks
        .filter(({ transactions }) => transactions.length > 0)
        .map(({ timestamp }) => Number(head.timestamp - timestamp))
      expect(ages.filter(age => age < 300).length).toBeGreaterThan(15)
      // Whatever is older than the history belongs to the making of the world.
      expect(ages.filter(age => age > 1500 && age < 2400).length).toBeGreaterThan(3)
      const genesis = await chain.client.getBlock({ blockNumber: 0n })
      expect(Number(head.timestamp - genesis.timestamp)).toBeGreaterThan(2400)
      // A new service begins so far back. With a first block older than 35 minutes it would take the past for a long stop.
      const first = blocks.at(-1 - START_BEHIND)?.timestamp ?? 0n
      expect(Number(head.timestamp - first)).toBeLessThan(2100)
    }
  })

  it('keeps the pools of a token together, and continues by itself', async () => {
    for (const chain of all.chains)
      for (const [symbol, spread] of await spreads(chain))
        expect(spread, `${symbol} on ${chain.plan.chainId}`).toBeLessThan(0.02)
    const fast = all.chains[1] as WorldChain
    const before = await headOf(fast)
    await expect
      .poll(async () => Number((await headOf(fast)).number - before.number))
      .toBeGreaterThanOrEqual(3)
    // Blocks keep up with the clock: each chain makes one that is not older than this question.
    for (const chain of all.chains) {
      const askedS = Math.floor(Date.now() / 1000)
      await expect
        .poll(async () => Number((await headOf(chain)).timestamp), PATIENT)
        .toBeGreaterThanOrEqual(askedS)
    }
  })
})

describe('one chain of it', () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'assay-world-'))
  })
  afterEach(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is the same to the last hash with the same seed and time, and another with another seed', async () => {
    const hashes: Hex[] = []
    for (const seed of [7, 7, 8]) {
      const chain = await start({ seed, hasHistory: true, clock: { hurry: 1, nowS: () => 1_800_000_000 } })
      const head = await headOf(chain)
      hashes.push(head.hash)
      // Every answer of a feed has a second of its own, however long the one before took.
      const answers = Object.keys(chain.seeded.feeds).length
      expect(answers).toBeGreaterThan(1)
      for (let back = 0; back < answers; back++) {
        const { timestamp } = await chain.client.getBlock({ blockNumber: head.number - BigInt(back) })
        expect(timestamp).toBe(1_800_000_000n - BigInt(back))
      }
      await stop()
      rmSync(folder, { recursive: true, force: true })
    }
    expect(hashes[0]).toBe(hashes[1])
    expect(hashes[2]).not.toBe(hashes[1])
  })

  it('has endpoints of the chosen profile, over HTTP and WebSocket, and direct access without it', async () => {
    const chain = await start({ profile: profileOf('public') })
    const receipts = { method: 'eth_getBlockReceipts', params: ['latest'] } as never
    await expect(connect(chain.url).request(receipts)).rejects.toThrow('does not exist/is not available')
    expect(await chain.client.request(receipts)).toEqual(expect.any(Array))
    const message = await new Promise<string>((resolve, reject) => {
      const socket = new WebSocket(chain.wsUrl)
      socket.addEventListener('open', () =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, ...Object(receipts) })),
      )
      socket.addEventListener('message', ({ data }) => resolve(String(data)))
      socket.addEventListener('error', () => reject(new Error('no connection')))
    })
    expect(message).toMatch(/does not exist/)
    await stop()
    await expect(fetch(chain.url)).rejects.toThrow()
  })

  it('has a service begin five minutes back, and behind a profile at the head', async () => {
    const chain = await start({ profile: profileOf('free') })
    const { profile: _, ...direct } = chain
    const configOf = (served: Omit<ServedChain, 'life'>) =>
      worldConfig({ chains: [{ ...served, life: { isLive: true } }] }, { port: 0, database: '' })
    expect(configOf(direct)).toMatchObject({ chains: [{ start_behind_s: 330 }] })
    expect(configOf(chain)).not.toMatchObject({ chains: [{ start_behind_s: expect.anything() }] })
  })

  it('resumes where it stopped, at the prices it had', async () => {
    const first = await start({ hasHistory: true })
    const before = await headOf(first)
    const fair = first.plan.tokens.map(({ symbol }) => first.traders.fairUsd(symbol))
    await stop()
    const again = await start({ hasHistory: true })
    expect([again.isNew, again.genesisHash]).toEqual([false, first.genesisHash])
    expect((await again.client.getBlock({ blockNumber: before.number })).hash).toBe(before.hash)
    for (const [at, { symbol }] of again.plan.tokens.entries())
      expect(again.traders.fairUsd(symbol) / (fair[at] ?? 0), symbol).toBeCloseTo(1, 1)
  })

  it('gets Multicall3 when it resumes, if it was created without', async () => {
    const codeOf = ({ client }: WorldChain) => client.getCode({ address: MULTICALL3 })
    const { hasMulticall3: _, ...older } = SMALL
    expect(await codeOf(await start({ plans: [older] }))).toBeUndefined()
    await stop()
    const chain = await start()
    expect([chain.isNew, (await codeOf(chain))?.length]).toEqual([false, expect.any(Number)])
  })

  it('updates its feeds at once when it resumes, since they have become stale', async () => {
    await start({ hasHistory: true, clock: anHourAgo })
    await stop()
    const resumedS = Math.floor(Date.now() / 1000)
    const chain = await start({ isLive: true, hasHistory: true })
    const feeds = Object.values(chain.seeded.feeds)
    expect(feeds.length).toBeGreaterThan(0)
    for (const address of feeds) {
      const [, , , updatedAt] = await chain.client.readContract({
        address,
        abi: priceFeedAbi,
        functionName: 'latestRoundData',
      })
      expect(Number(updatedAt)).toBeGreaterThanOrEqual(resumedS)
    }
  })

  it('survives a truncated state, and recreates a missing one', async () => {
    const first = await start()
    const state = join(folder, `chain-${SMALL.chainId}.state.json`)
    await stop()
    truncateSync(state, Math.floor(statSync(state).size / 2))
    const again = await start()
    expect([again.isNew, again.genesisHash]).toEqual([false, first.genesisHash])
    await stop()
    for (const file of [state, `${state}.good`]) truncateSync(file, 100)
    expect((await start()).isNew).toBe(true)
  })

  it('is renewed under its readers: same port, same blocks, another process', async () => {
    const chain = await start({ isLive: true, hasHistory: false, renewEveryBlocks: 3n })
    const [before, pid] = [await headOf(chain), chain.pid()]
    await expect.poll(() => chain.pid() !== pid, PATIENT).toBe(true)
    await expect
      .poll(async () => (await headOf(chain).catch(() => before)).number - before.number, PATIENT)
      .toBeGreaterThan(6n)
    // Renewed more than once, its clock is still the machine's: not ahead of it, and not left behind.
    const askedS = Math.floor(Date.now() / 1000)
    const timeOf = async () => Number((await headOf(chain).catch(() => before)).timestamp)
    await expect.poll(timeOf, PATIENT).toBeGreaterThanOrEqual(askedS)
    expect(await timeOf()).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000))
    const kept = await chain.client.getBlock({ blockNumber: before.number })
    expect(kept.hash).toBe(before.hash)
    const answer = await chain.client.readContract({
      address: chain.seeded.feeds['USDC'] as Hex,
      abi: priceFeedAbi,
      functionName: 'latestRoundData',
    })
    expect(answer[1]).toBe(100_000_000n)
  })

  it('can be accelerated: blocks, trades and renewals of minutes within seconds, a block time apart', async () => {
    const chain = await start({
      isLive: true,
      hasHistory: false,
      clock: startClock(20),
      renewEveryBlocks: 60n,
    })
    const [before, pid, slots] = [await headOf(chain), chain.pid(), await slotsOf(chain)]
    const head = () => headOf(chain).catch(() => before)
    await expect.poll(async () => (await head()).number - before.number, PATIENT).toBeGreaterThan(120n)
    expect(chain.pid()).not.toBe(pid)
    // The next renewal may be under way: the node is away for its time.
    const [grown, after, traded] = await vi.waitFor(
      async () => {
        const now = await headOf(chain)
        const logs = await chain.client.getLogs({ fromBlock: now.number - 20n, toBlock: now.number })
        return [(await slotsOf(chain)) - slots, now, logs] as const
      },
      { timeout: 60_000, interval: 200 },
    )
    // What a node holds, it hashes for every block: nothing in it may grow with their number.
    expect(grown).toBeLessThan(120)
    const seconds = Number(after.timestamp - before.timestamp)
    expect(seconds).toBeGreaterThanOrEqual(Number(after.number - before.number) * SMALL.blockTimeS)
    expect(traded.length).toBeGreaterThan(0)
  })

  it('has its node restarted when that ends by itself, from the state it wrote last', async () => {
    const chain = await start({ isLive: true, hasHistory: false })
    const copy = join(folder, `chain-${SMALL.chainId}.state.json.good`)
    await expect.poll(() => existsSync(copy), PATIENT).toBe(true)
    const pid = chain.pid()
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => chain.pid() !== pid, PATIENT).toBe(true)
    const askedS = Math.floor(Date.now() / 1000)
    await expect
      .poll(async () => Number((await headOf(chain)).timestamp), PATIENT)
      .toBeGreaterThanOrEqual(askedS)
    const { number } = await headOf(chain)
    await expect.poll(async () => (await headOf(chain)).number, PATIENT).toBeGreaterThan(number)
    expect((await chain.client.getBlock({ blockNumber: 0n })).hash).toBe(chain.genesisHash)
  })

  it('is created once more when its node ends by itself before it is complete', async () => {
    const dying = join(folder, 'dying-anvil')
    // The first one is killed in the middle of its history, which it reports block by block.
    writeFileSync(
      dying,
      `#!/bin/sh
if mkdir '${folder}/first' 2>/dev/null; then
  sh -c 'echo $$ >"$0"; exec "$@"' '${folder}/first/pid' '${anvilBinary()}' "$@" | while read -r line; do
    echo "$line"
    case "$line" in *'Block Number: 100') kill -KILL "$(cat '${folder}/first/pid')" ;; esac
  done
  exit 1
fi
exec '${anvilBinary()}' "$@"
`,
      { mode: 0o700 },
    )
    const said: string[] = []
    const crashed = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => crashed.mockRestore())
    vi.stubEnv('ASSAY_ANVIL', dying)
    const chain = await start({ hasHistory: true, onProgress: line => said.push(line) }).finally(() =>
      vi.unstubAllEnvs(),
    )
    expect(said).toEqual([
      `${SMALL.name}: its node ended by itself; trying again`,
      `${SMALL.name}: ${SMALL.tokens.length} tokens, ${SMALL.pools.length} pools created`,
    ])
    expect(crashed.mock.calls).toEqual([[expect.stringContaining('crashed, it exited with code 1.')]])
    expect((await headOf(chain)).number).toBeGreaterThan(100n)
  })

  it('drops its old blocks, except for the first', async () => {
    const first = await start()
    const [head, genesisHash] = [await headOf(first), first.genesisHash]
    await stop()
    const file = new StateFile(join(folder, `chain-${SMALL.chainId}.state.json`))
    const size = statSync(file.path).size
    file.trim(20)
    expect(statSync(file.path).size).toBeLessThan(size / 2)
    const node = await ChainNode.open(SMALL.chainId, 0, file)
    try {
      const at = async (blockNumber: bigint) =>
        (await node.client.getBlock({ blockNumber }).catch(() => null))?.hash ?? null
      expect(await at(0n)).toBe(genesisHash)
      expect(await at(head.number)).toBe(head.hash)
      expect(await at(head.number - 19n)).not.toBeNull()
      expect(await at(head.number - 20n)).toBeNull()
      await node.setClock(() => Number(head.timestamp) + 5)
      const next = await node.client.getBlock({ blockNumber: head.number + 1n })
      expect(next.parentHash).toBe(head.hash)
      const [pool] = first.seeded.pools
      expect(toNumber(await readPrice(node.client, pool as NonNullable<typeof pool>))).toBeGreaterThan(0)
    } finally {
      await node.close()
    }
  })
})
