/** A configuration with nothing switched on and no chains, for a test to complete. */
import { Secret } from '../../ops/secret.ts'
import type { Config } from '../config.ts'

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
