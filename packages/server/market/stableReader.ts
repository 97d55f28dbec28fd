/**
 * Chainlink answers at a block: the feeds of stables and routing assets and, where the chain has one, the sequencer's.
 */
import { count, ms, type StableAnswer } from '@assay/engine'
import type { BlockRef, ChainRpc } from '../feed/feed.ts'
import { type ChainConfig, dollarFeeds } from '../config/config.ts'
import type { Address } from '../ops/hex.ts'
import { SELECTOR } from './abi.ts'
import type { AnswerSources, StableReading } from './market.ts'
import { addressAt, intAt, uintAt, wordCount } from './abiWords.ts'

export async function readStables(
  rpc: ChainRpc,
  chain: ChainConfig,
  block: BlockRef,
  signal: AbortSignal,
): Promise<StableReading> {
  const { stables, assetFeeds = [], sequencerUptimeFeed } = chain
  const [answers, sequencer] = await Promise.all([
    Promise.all(
      [...stables, ...assetFeeds].map(async ({ tokenAddress, usdFeed }) => ({
        token: tokenAddress,
        answer: usdFeed === null ? null : await readFeed(rpc, usdFeed.address, block, signal),
      })),
    ),
    sequencerUptimeFeed === null ? null : readSequencer(rpc, sequencerUptimeFeed, block, signal),
  ])
  return { answers, sequencer }
}

/**
 * A feed is a proxy whose aggregator emits the logs. A feed without an aggregator may emit them itself, but nothing
 * guarantees it.
 */
export async function readAnswerSources(
  rpc: ChainRpc,
  chain: ChainConfig,
  block: BlockRef,
  signal: AbortSignal,
): Promise<AnswerSources> {
  const { sequencerUptimeFeed } = chain
  const [feeds, sequencer] = await Promise.all([
    Promise.all(
      dollarFeeds(chain).map(async ({ tokenAddress, usdFeed: { address } }) => {
        const aggregator = await readAggregator(rpc, address, block, signal)
        return { token: tokenAddress, address, aggregator }
      }),
    ),
    sequencerUptimeFeed === null ? null : readAggregator(rpc, sequencerUptimeFeed, block, signal),
  ])
  const aggregators = new Map<Address, Address[]>()
  const others = new Set<Address>(sequencerUptimeFeed === null ? [] : [sequencerUptimeFeed])
  if (sequencer !== null) others.add(sequencer)
  for (const { token, address, aggregator } of feeds) {
    if (aggregator === null) others.add(address)
    else aggregators.set(aggregator, [...(aggregators.get(aggregator) ?? []), token])
  }
  const isComplete =
    feeds.every(({ aggregator }) => aggregator !== null) &&
    (sequencerUptimeFeed === null || sequencer !== null)
  return { aggregators, others, isComplete }
}

async function readAggregator(
  rpc: ChainRpc,
  feed: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<Address | null> {
  const answer = await rpc.call(feed, SELECTOR['aggregator()'], block.hash, signal)
  return answer === null || wordCount(answer) < 1 ? null : addressAt(answer, 0)
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
  return answerOf(intAt(round, 1), uintAt(round, 3), Number(uintAt(decimals, 0)))
}

/** An unfinished round has no time; a value that is not above 0 is no answer. */
export const answerOf = (value: bigint, updatedAtS: bigint, decimals: number): StableAnswer => ({
  value: value < 0n ? 0n : value,
  decimals: count(decimals),
  updatedAtMs: ms(Number(updatedAtS) * 1000),
  complete: updatedAtS > 0n && value > 0n,
})

/** The answer is 0 while the sequencer is up; startedAt is the time since when. */
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
