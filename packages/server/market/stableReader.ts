/** Chainlink answers at a block: the stables' own feeds and, where the chain has one, the sequencer's. */
import { count, ms, type StableAnswer } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import type { Address, ChainConfig } from '../ops/config.ts'
import { SELECTOR } from './abi.ts'
import type { AnswerSources, StableReading } from './market.ts'
import { addressAt, intAt, uintAt, wordCount } from './words.ts'

export async function readStables(
  rpc: ChainRpc,
  chain: ChainConfig,
  block: BlockRef,
  signal: AbortSignal,
): Promise<StableReading> {
  const { stables, sequencerUptimeFeed } = chain
  const [answers, sequencer] = await Promise.all([
    Promise.all(
      stables.map(async ({ tokenAddress, usdFeed }) => ({
        token: tokenAddress,
        answer: usdFeed === null ? null : await readFeed(rpc, usdFeed.address, block, signal),
      })),
    ),
    sequencerUptimeFeed === null ? null : readSequencer(rpc, sequencerUptimeFeed, block, signal),
  ])
  return { answers, sequencer }
}

/**
 * The contracts that log a new answer. A feed is a proxy, and its aggregator logs; one without an aggregator may log by
 * itself, but nothing says so, and `isComplete` is false.
 */
export async function readAnswerSources(
  rpc: ChainRpc,
  chain: ChainConfig,
  block: BlockRef,
  signal: AbortSignal,
): Promise<AnswerSources> {
  const { stables, sequencerUptimeFeed } = chain
  const proxies = [...stables.map(({ usdFeed }) => usdFeed?.address ?? null), sequencerUptimeFeed]
  const feeds = proxies.filter(each => each !== null)
  const answers = await Promise.all(
    feeds.map(feed => rpc.call(feed, SELECTOR['aggregator()'], block.hash, signal)),
  )
  const aggregators = answers.flatMap(answer =>
    answer === null || wordCount(answer) < 1 ? [] : [addressAt(answer, 0)],
  )
  return { contracts: new Set([...feeds, ...aggregators]), isComplete: aggregators.length === feeds.length }
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
