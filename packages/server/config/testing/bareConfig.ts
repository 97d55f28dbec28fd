/** A configuration with nothing switched on and no chains, and a chain with nothing on it, for a test to complete. */
import { Secret } from '../../ops/secret.ts'
import type { ChainConfig, Config } from '../config.ts'

/** `path`: the file of a SQLite database; left out, one that nobody opens. */
export const bareConfig = <More extends Partial<Config>>(more: More, path = 'none.db') =>
  ({
    listen: { host: '127.0.0.1', port: 0, publicOrigin: null, trustedProxies: [] },
    admin: { allow: [] },
    access: { corsOrigins: [] },
    compat: { coingecko: false, defillama: false, udf: false, minScore: 1, listen: null },
    mcp: { enabled: true, minScore: 4 },
    retention: { hours: 72, records: 1000 },
    policy: {},
    rpc: { maxAnswerMib: 256 },
    chains: [],
    coverage: [],
    store: { address: new Secret(`sqlite:${path}`), path },
    ...more,
  }) satisfies Config

type Own = Pick<ChainConfig, 'chainId' | 'endpoints' | 'genesisHash'>

export const bareChain = (more: Own & Partial<ChainConfig>): ChainConfig => ({
  name: 'A chain',
  blockTimeMs: 1000,
  finality: { kind: 'tag' },
  wrappedNative: `0x${'00'.repeat(20)}`,
  deployments: [],
  stables: [],
  sequencerUptimeFeed: null,
  routingAssets: [],
  pools: [],
  tokens: [],
  ...more,
})
