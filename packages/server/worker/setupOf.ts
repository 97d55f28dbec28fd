/** The part of a chain's configuration that the engine needs. */
import { type ChainSetup, count, ms } from '@assay/engine'
import type { ChainConfig } from '../config/config.ts'

export function setupOf(chain: ChainConfig): ChainSetup {
  return {
    chainId: count(chain.chainId),
    blockTimeMs: ms(chain.blockTimeMs),
    stables: chain.stables.map(({ tokenAddress, usdFeed }) => ({
      token: tokenAddress,
      feed: usdFeed === null ? null : { heartbeatMs: ms(usdFeed.heartbeatMs), graceMs: ms(usdFeed.graceMs) },
    })),
    routingAssets: chain.routingAssets,
    assetFeeds: Object.fromEntries(
      (chain.assetFeeds ?? []).map(({ tokenAddress, usdFeed: { heartbeatMs, graceMs } }) => [
        tokenAddress,
        { heartbeatMs: ms(heartbeatMs), graceMs: ms(graceMs) },
      ]),
    ),
    hasSequencer: chain.sequencerUptimeFeed !== null,
  }
}
