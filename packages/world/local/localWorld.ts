/**
 * The running local world: one anvil node per chain of the plan with the real contracts on it, and traders that keep
 * it moving. Its state is kept in one folder; a restart there resumes it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Hex } from 'viem'
import type { Client } from '../client.ts'
import { putMulticall3 } from '../multicall3.ts'
import type { Profile } from '../proxy/profiles.ts'
import { type FaultProxy, startFaultProxy } from '../proxy/faultProxy.ts'
import { Random } from '../random.ts'
import { ChainLife } from './chainLife.ts'
import { ChainNode } from './chainNode.ts'
import { WORLD } from './chains.ts'
import { HISTORY_S, LEAD_S, makeHistory } from './history.ts'
import type { ChainPlan } from './plan.ts'
import { latePools, seedChain, type SeededChain } from './seeding.ts'
import { StateFile } from './stateFile.ts'
import { Traders } from './traders.ts'
import { startClock, type WorldClock } from './worldClock.ts'

export type WorldChain = {
  readonly plan: ChainPlan
  /**
   * The URL of the node, or of the proxy in front of it when the world has a profile; `client` always calls the node
   * directly.
   */
  readonly url: string
  readonly wsUrl: string
  /** Omitted when the endpoints are the node's own. */
  readonly profile?: Profile
  /** The process id of the node; it changes when the node is renewed. */
  pid(): number
  readonly genesisHash: Hex
  readonly client: Client
  readonly seeded: SeededChain
  readonly traders: Traders
  /** True when this start created the chain, false when it was restored. */
  readonly isNew: boolean
  readonly life: ChainLife
}

export type LocalWorld = { readonly chains: readonly WorldChain[]; close(): Promise<void> }

export type WorldOptions = {
  /** Kept between runs. */
  readonly folder: string
  readonly plans?: readonly ChainPlan[]
  readonly seed?: number
  /**
   * Omitted: blocks arrive at the plan's pace, and traders trade and have done so before. `false` leaves all of it to
   * the caller.
   */
  readonly isLive?: boolean
  /** With trades of the last 40 minutes; omitted, as `isLive`. */
  readonly hasHistory?: boolean
  /** `finalized` is two epochs below the head. */
  readonly slotsInAnEpoch?: number
  readonly keptBlocks?: number
  readonly stateEveryS?: number
  /** The number of blocks after which a node is restarted from its own state; omitted, several thousand. */
  readonly renewEveryBlocks?: bigint
  /** A clock other than the machine's, for a world at another time or an accelerated one. */
  readonly clock?: WorldClock
  /** How the endpoints of its chains behave; omitted, they are the nodes themselves. */
  readonly profile?: Profile
  readonly onProgress?: (line: string) => void
}

/** How long a node may take to be reported as gone after its port refuses connections. */
const GONE_MS = 500
const LOOK_MS = 20

/** Genesis hashes follow from the time alone: within this range each chain has its own. */
const GENESIS_SPREAD = 97

export async function startWorld(options: WorldOptions): Promise<LocalWorld> {
  const { folder, plans = WORLD } = options
  mkdirSync(folder, { recursive: true })
  const starts = await Promise.allSettled(plans.map(plan => startChain(plan, options)))
  const chains = starts.flatMap(start => (start.status === 'fulfilled' ? [start.value] : []))
  const proxies: FaultProxy[] = []
  const close = async () => {
    await Promise.all(proxies.map(proxy => proxy.close()))
    await Promise.all(chains.map(chain => chain.life.stop()))
  }
  const failed = starts.find(start => start.status === 'rejected')
  if (failed !== undefined) {
    await close()
    throw failed.reason
  }
  if (options.profile === undefined) return { chains, close }
  const { profile, seed = 1 } = options
  for (const { url } of chains)
    proxies.push(await startFaultProxy({ url, seed, rules: profile.rules, isRecording: false }))
  return {
    chains: chains.map((chain, at) => ({ ...chain, ...endpointOf(proxies[at] as FaultProxy), profile })),
    close,
  }
}

const endpointOf = ({ url, wsUrl }: FaultProxy) => ({ url, wsUrl })

type Memory = { readonly genesisS: number; readonly seeded: SeededChain }

/**
 * An incomplete chain is not remembered: a chain whose node ends on its own before it is ready is created once more.
 */
async function startChain(plan: ChainPlan, options: WorldOptions, isAgain = false): Promise<WorldChain> {
  const { folder, seed = 1, isLive = true, hasHistory = isLive, clock = startClock() } = options
  const { nowS } = clock
  const file = new StateFile(join(folder, `chain-${plan.chainId}.state.json`))
  const memoryFile = join(folder, `chain-${plan.chainId}.json`)
  const memory = existsSync(memoryFile) && (await file.recover()) ? readMemory(memoryFile, plan) : null
  if (memory === null) {
    file.remove()
    rmSync(memoryFile, { force: true })
  }
  const startS = nowS()
  const genesisS = memory?.genesisS ?? startS - HISTORY_S - LEAD_S - (plan.chainId % GENESIS_SPREAD)
  const node = await ChainNode.open(plan.chainId, genesisS, file, {
    ...options,
    isOpStack: plan.isOpStack === true,
  })
  try {
    const { client } = node
    // Before the next block is made; a chain of an older world gets it too.
    if (plan.hasMulticall3 === true)
      await putMulticall3((method, ...params) => client.request({ method, params } as never))
    if (memory !== null) await node.setClock(nowS)
    else await client.setBlockTimestampInterval({ interval: 1 })
    const seeded = memory?.seeded ?? (await seedChain(client, plan, hasHistory ? genesisS + LEAD_S : startS))
    const traders = new Traders(client, plan, seeded, new Random(seed, plan.name))
    if (memory !== null) await traders.learn()
    else {
      const late = latePools(client, plan, seeded)
      if (hasHistory) await makeHistory(client, seeded, traders, startS, late)
      else {
        for (const make of late) await make()
        // Its pools are as old as those of a chain with a history: a new pool would have no weight yet.
        await client.removeBlockTimestampInterval()
        await node.setClock(nowS)
      }
      writeFileSync(memoryFile, JSON.stringify({ genesisS, seeded } satisfies Memory))
    }
    const genesis = await client.getBlock({ blockNumber: 0n })
    const life = new ChainLife(node, plan, seeded, traders, clock)
    if (isLive) {
      await node.setClock(nowS)
      // The answers have aged since the last run, and trades may take a block's time to arrive.
      if (memory !== null) await life.answerFeeds()
      await life.start(options.renewEveryBlocks)
    }
    options.onProgress?.(
      `${plan.name}: ${plan.tokens.length} tokens, ${plan.pools.length} pools ${memory === null ? 'created' : 'restored'}`,
    )
    return {
      plan,
      url: node.url,
      wsUrl: node.wsUrl,
      pid: () => node.pid,
      genesisHash: genesis.hash,
      client,
      seeded,
      traders,
      isNew: memory === null,
      life,
    }
  } catch (failure) {
    const hasDied = await hasEndedBy(node, GONE_MS)
    await node.close()
    if (!hasDied || isAgain) throw failure
    options.onProgress?.(`${plan.name}: its node ended by itself; trying again`)
    return startChain(plan, options, true)
  }
}

/** The end of a process is reported shortly after its port refuses connections. */
async function hasEndedBy(node: ChainNode, withinMs: number): Promise<boolean> {
  for (const untilMs = performance.now() + withinMs; !node.hasEnded && performance.now() < untilMs; )
    await wait(LOOK_MS)
  return node.hasEnded
}

/** Null when another plan was seeded: the chain is then created again. */
function readMemory(file: string, plan: ChainPlan): Memory | null {
  const memory = JSON.parse(readFileSync(file, 'utf8')) as Memory
  const isSame =
    memory.seeded.pools.length === plan.pools.length &&
    memory.seeded.pools.every(pool => Array.isArray(pool.bands))
  return isSame ? memory : null
}
