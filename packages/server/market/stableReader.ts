/** Chainlink answers at a block: the stables' own feeds and, where the chain has one, the sequencer's. */
import { count, ms, type StableAnswer } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address, ChainConfig } from '../ops/config.ts'
import { SELECTOR } from './abi.ts'
import type { StableReading } from './market.ts'
import { intAt, uintAt, wordCount } from './words.ts'

export async function readStables(
  rpc: ChainRpc,
  chain: ChainConfig,
  block: BlockRef,
  signal: AbortSignal,
): Promise<StableReading> {
  const answers = await Promise.all(
    chain.stables.map(async ({ tokenAddress, usdFeed }) => ({
      token: tokenAddress,
      answer: usdFeed === null ? null : await readFeed(rpc, usdFeed.address, block, signal),
    })),
  )
  const { sequencerUptimeFeed } = chain
  return {
    answers,
    sequencer:
      sequencerUptimeFeed === null ? null : await readSequencer(rpc, sequencerUptimeFeed, block, signal),
  }
}

/** latestRoundData: roundId, answer, startedAt, updatedAt, answeredInRound. Null when the feed does not answer. */
async function readFeed(
  rpc: ChainRpc,
  feed: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<StableAnswer | null> {
  const [round, decimals] = await Promise.all([
    rpc.call(feed, SELECTOR['latestRoundData()'], block.hash, signal),
    rpc.call(feed, SELECTOR['decimals()'], block.hash, signal),
  ])
  if (round === null || decimals === null || wordCount(round) < 5 || wordCount(decimals) < 1) return null
  const updatedAt = uintAt(round, 3)
  const value = intAt(round, 1)
  return {
    value: value < 0n ? 0n : value,
    decimals: count(Number(uintAt(decimals, 0))),
    updatedAtMs: ms(Number(updatedAt) * 1000),
    complete: updatedAt > 0n && value > 0n,
  }
}

/** The answer is 0 while the sequencer is up; startedAt is when that began. */
async function readSequencer(
  rpc: ChainRpc,
  feed: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<StableReading['sequencer']> {
  const round = await rpc.call(feed, SELECTOR['latestRoundData()'], block.hash, signal)
  if (round === null || wordCount(round) < 5) return { up: false, sinceMs: ms(0) }
  return { up: intAt(round, 1) === 0n, sinceMs: ms(Number(uintAt(round, 2)) * 1000) }
}
