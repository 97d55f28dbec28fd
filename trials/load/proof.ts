/**
 * Conditions that must hold after any load, however slow it was: the log has every swap of the chains, every
 * subscriber received every record of the log between its first and its last, and the database is sound.
 */
import type { WorldChain } from '@assay/world'
import { toEventSelector } from 'viem'
import { loadConfig } from '../../packages/server/commands/config.ts'
import { checkDatabase } from '../../packages/server/commands/database.ts'
import { openReader } from '../../packages/server/store/openStore.ts'
import type { Heard } from './subscribers.ts'

/** Swaps of a chain in its blocks above `from` up to `to`, according to its node. */
export type Made = {
  readonly chainId: number
  readonly from: number
  readonly to: number
  readonly swaps: number
}

const SWAPS = [
  toEventSelector('Swap(address,uint256,uint256,uint256,uint256,address)'),
  toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)'),
]
/** Blocks per request for logs: several thousand logs. */
const BLOCKS = 10
const PAGE = 1000

/** Counts the swaps of the chains; must be called before the nodes drop them. */
export class Tally {
  readonly #chains: readonly WorldChain[]
  #made: readonly Made[] = []

  constructor(chains: readonly WorldChain[]) {
    this.#chains = chains
  }

  /** Counts from the first call on. */
  async count(): Promise<readonly Made[]> {
    this.#made = await Promise.all(
      this.#chains.map(async ({ plan: { chainId }, client }, at) => {
        const height = Number(await client.getBlockNumber())
        const { from, to, swaps } = this.#made[at] ?? { from: height, to: height, swaps: 0 }
        return { chainId, from, to: height, swaps: swaps + (await swapsOnChain(client, to, height)) }
      }),
    )
    return this.#made
  }
}

export async function provenFaults(
  configFile: string,
  made: readonly Made[],
  heard: readonly Heard[],
): Promise<readonly string[]> {
  const { sequences, swaps } = await readWholeLog(configFile, made)
  const lost = made.flatMap(({ chainId, swaps: count }, at) =>
    count === swaps[at] ? [] : [`chain ${chainId} made ${count} swaps and the log has ${swaps[at]} of them`],
  )
  const { faults: unsound } = await checkDatabase(loadConfig(configFile, {}))
  return [...heardFaults(sequences, heard), ...lost, ...unsound.map(fault => `database: ${fault}`)]
}

/** Subscribers that received too few, too many or different records; each kind once. */
export function heardFaults(sequences: readonly number[], heard: readonly Heard[]): ReadonlySet<string> {
  const places = new Map(sequences.map((sequence, place) => [sequence, place]))
  return new Set(
    heard.flatMap(({ first, last, records }) => {
      if (records === 0) return ['a subscriber got no record at all']
      const [from, to] = [places.get(first), places.get(last)]
      if (from === undefined || to === undefined)
        return [`a subscriber got ${first} to ${last}, not both on the log`]
      const due = to - from + 1
      return due === records ? [] : [`a subscriber got ${records} of ${due} records from ${first} to ${last}`]
    }),
  )
}

async function readWholeLog(
  configFile: string,
  made: readonly Made[],
): Promise<{ readonly sequences: readonly number[]; readonly swaps: readonly number[] }> {
  const reader = await openReader(loadConfig(configFile, {}).store.address.reveal())
  const sequences: number[] = []
  const swaps = made.map(() => 0)
  try {
    for (let after = 0; ; ) {
      const page = await reader.readLog(after, PAGE, null)
      for (const { sequence, chainId, type, envelope } of page) {
        sequences.push(sequence)
        if (type !== 'SWAP_OBSERVED') continue
        const block = Number(/"block_number":(\d+)/.exec(envelope)?.[1])
        const at = made.findIndex(each => each.chainId === chainId && block > each.from && block <= each.to)
        if (at >= 0) swaps[at] = (swaps[at] as number) + 1
      }
      if (page.length === 0) return { sequences, swaps }
      after = page.at(-1)?.sequence ?? after
    }
  } finally {
    await reader.close()
  }
}

async function swapsOnChain(client: WorldChain['client'], from: number, to: number): Promise<number> {
  let swaps = 0
  for (let first = from + 1; first <= to; first += BLOCKS) {
    const range = [first, Math.min(to, first + BLOCKS - 1)].map(block => `0x${block.toString(16)}` as const)
    const [fromBlock, toBlock] = range as [`0x${string}`, `0x${string}`]
    const params = [{ fromBlock, toBlock, topics: [SWAPS] }]
    const logs: readonly unknown[] = await client.request({ method: 'eth_getLogs', params } as never)
    swaps += logs.length
  }
  return swaps
}
