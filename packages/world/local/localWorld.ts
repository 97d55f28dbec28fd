/**
 * The local world, running: one anvil node per chain of the plan with the real contracts on it, and traders that
 * keep it moving. Its state lives in one folder; started again there, it goes on where it stood.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Address, Hex } from 'viem'
import { type Anvil, startAnvil } from '../anvil.ts'
import { type Client, connect } from '../client.ts'
import { Random } from '../random.ts'
import { type ChainPlan, WORLD } from './plan.ts'
import { seedChain, type SeededChain, setAnswer } from './seeding.ts'
import { Traders } from './traders.ts'

export type WorldChain = {
  readonly plan: ChainPlan
  readonly url: string
  readonly wsUrl: string
  readonly genesisHash: Hex
  readonly client: Client
  readonly seeded: SeededChain
  readonly traders: Traders
  /** True when the chain was made by this start, false when it was found again. */
  readonly isNew: boolean
  /** A stable's feed answers this many dollars from now on. */
  answer(symbol: string, usd: number): Promise<void>
}

export type LocalWorld = { readonly chains: readonly WorldChain[]; close(): Promise<void> }

export type WorldOptions = {
  /** Kept between runs. */
  readonly folder: string
  readonly plans?: readonly ChainPlan[]
  readonly seed?: number
  /** Left out, blocks come at the plan's pace and traders trade; `false` leaves both to the caller. */
  readonly isLive?: boolean
  readonly onProgress?: (line: string) => void
}

/** Blocks until `finalized`: two epochs of this many slots. */
const SLOTS = 4
const GAS_LIMIT = 60_000_000n
/** After a round that failed. */
const TRADE_PAUSE_MS = 500
/** A stable's feed is answered anew this often. */
const ANSWER_MS = 120_000
/** Anvil writes its state this often, so that little is lost when the machine goes. */
const STATE_INTERVAL_S = 10
const HISTORY_S = 3600

export async function startWorld(options: WorldOptions): Promise<LocalWorld> {
  const { folder, plans = WORLD, seed = 1, isLive = true, onProgress = () => undefined } = options
  mkdirSync(folder, { recursive: true })
  const started = await Promise.all(plans.map(plan => startChain(folder, plan, seed, isLive, onProgress)))
  return {
    chains: started.map(({ chain }) => chain),
    async close() {
      await Promise.all(started.map(each => each.stop()))
    },
  }
}

type Memory = { readonly genesisS: number; readonly seeded: SeededChain }

async function startChain(
  folder: string,
  plan: ChainPlan,
  seed: number,
  isLive: boolean,
  onProgress: (line: string) => void,
) {
  const stateFile = join(folder, `chain-${plan.chainId}.state.json`)
  const memoryFile = join(folder, `chain-${plan.chainId}.json`)
  const isKnown = existsSync(memoryFile) && recover(stateFile)
  if (!isKnown) for (const file of [stateFile, memoryFile]) rmSync(file, { force: true })
  const memory = isKnown ? (JSON.parse(readFileSync(memoryFile, 'utf8')) as Memory) : null
  const genesisS = memory?.genesisS ?? nowS() - HISTORY_S - plan.chainId
  const anvil = await startAnvil({
    chainId: plan.chainId,
    timestamp: genesisS,
    gasLimit: GAS_LIMIT,
    slotsInAnEpoch: SLOTS,
    flags: ['--state', stateFile, '--state-interval', `${STATE_INTERVAL_S}`],
  })
  const client = connect(anvil.url)
  await toWallClock(client)
  const seeded = memory?.seeded ?? (await seedChain(client, plan, nowS()))
  if (memory === null) writeFileSync(memoryFile, JSON.stringify({ genesisS, seeded } satisfies Memory))
  const genesis = await client.getBlock({ blockNumber: 0n })
  onProgress(
    `${plan.name}: ${plan.tokens.length} tokens, ${plan.pools.length} pools ${memory === null ? 'made' : 'found again'}`,
  )
  const traders = new Traders(client, plan, seeded, new Random(seed, plan.name))
  const answers = new Map(Object.keys(seeded.feeds).map(symbol => [symbol, 1]))
  const answer = async (symbol: string, usd: number) => {
    answers.set(symbol, usd)
    await setAnswer(client, seeded.feeds[symbol] as Address, usd, nowS())
  }
  const chain: WorldChain = {
    plan,
    url: anvil.url,
    wsUrl: anvil.wsUrl,
    genesisHash: genesis.hash,
    client,
    seeded,
    traders,
    isNew: memory === null,
    answer,
  }
  const life = isLive ? await live(chain, anvil, answers) : { stop: async () => undefined }
  return {
    chain,
    async stop() {
      await life.stop()
      await anvil.close()
      if (isWhole(stateFile)) copyFileSync(stateFile, lastGood(stateFile))
    },
  }
}

/** Blocks at the plan's pace, a round of trades in each, and feeds answered before they grow old. */
async function live(
  chain: WorldChain,
  anvil: Anvil,
  answers: ReadonlyMap<string, number>,
): Promise<{ stop(): Promise<void> }> {
  await chain.client.setIntervalMining({ interval: chain.plan.blockTimeS })
  let isOver = false
  let answeredAtMs = performance.now()
  const round = async () => {
    await chain.traders.round()
    if (performance.now() - answeredAtMs < ANSWER_MS) return
    answeredAtMs = performance.now()
    for (const [symbol, usd] of answers)
      await setAnswer(chain.client, chain.seeded.feeds[symbol] as Address, usd, nowS())
  }
  const run = async () => {
    // A reorganisation takes a round's transaction with it: the round is lost, the traders are not.
    while (!isOver) await round().catch(() => wait(TRADE_PAUSE_MS))
  }
  const ended = run()
  return {
    async stop() {
      isOver = true
      await Promise.race([ended, anvil.close()])
    },
  }
}

const lastGood = (stateFile: string): string => `${stateFile}.good`

/** Anvil writes its state in place: one that was cut short is replaced by the copy of the last clean stop. */
function recover(stateFile: string): boolean {
  if (isWhole(stateFile)) return true
  if (!isWhole(lastGood(stateFile))) return false
  copyFileSync(lastGood(stateFile), stateFile)
  return true
}

/** A JSON object that is there to its closing brace. */
function isWhole(file: string): boolean {
  if (!existsSync(file)) return false
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const end = Buffer.alloc(1)
    return size > 2 && readSync(handle, end, 0, 1, size - 1) === 1 && end.toString() === '}'
  } finally {
    closeSync(handle)
  }
}

/** The chain's clock follows the machine's from the next block on. */
async function toWallClock(client: Client): Promise<void> {
  const latest = await client.getBlock({ blockTag: 'latest' })
  const now = BigInt(nowS())
  if (latest.timestamp < now) await client.setNextBlockTimestamp({ timestamp: now })
  await client.mine({ blocks: 1 })
}

const nowS = (): number => Math.floor(Date.now() / 1000)
