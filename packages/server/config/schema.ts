/** The schema of the configuration: its sections, and the rules that concern several of them. */
import { DEFAULT_POLICY } from '@assay/engine'
import { integer, mapping, open, type ValueOf } from './field.ts'
import { ACCESS, ADMIN, WEBHOOKS } from './sections/access.ts'
import { CHAINS } from './sections/chain.ts'
import { COMPAT, MCP } from './sections/compat.ts'
import { COVERAGE } from './sections/coverage.ts'
import { LISTEN } from './sections/listen.ts'
import { RETENTION, recordsOutlastReorgs } from './sections/retention.ts'
import { onlyPostgresHasReplicas, REPLICA, STORE } from './sections/store.ts'

const RPC = mapping('Requests to endpoints.', {
  max_answer_mib: integer(
    'The largest accepted response with blocks, receipts or logs, in MiB; larger receipts are fetched one by one.',
    // No block that a chain accepts needs more than a gibibyte.
    [16, 1024, 'mebibytes'],
    { default: 256 },
  ),
})

const POLICY = open(
  'Any subset of the pricing policy; a list replaces the whole list. R-policy-1 in docs/RULES.md lists the keys.',
  DEFAULT_POLICY,
  {
    examples: [{ max_hops: 3, min_depth_usd: 50 }],
  },
)

export const SCHEMA = mapping(
  '',
  {
    listen: LISTEN,
    store: STORE,
    replica: REPLICA,
    admin: ADMIN,
    access: ACCESS,
    compat: COMPAT,
    mcp: MCP,
    retention: RETENTION,
    webhooks: WEBHOOKS,
    chains: CHAINS,
    coverage: COVERAGE,
    policy: POLICY,
    rpc: RPC,
  },
  { rules: [onlyPostgresHasReplicas, recordsOutlastReorgs] },
)

/** The configuration as it was read: the keys of the file, every default filled in. */
export type ConfigDocument = ValueOf<typeof SCHEMA>
