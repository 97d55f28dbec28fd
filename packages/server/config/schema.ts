/** The schema of the configuration: its sections, and the rules that concern several of them. */
import { DEFAULT_POLICY } from '@assay/engine'
import { integer, mapping, open, type ValueOf } from './field.ts'
import { ACCESS, ADMIN, WEBHOOKS } from './sections/access.ts'
import { CHAINS } from './sections/chain.ts'
import { COMPAT, MCP } from './sections/compat.ts'
import { COVERAGE } from './sections/coverage.ts'
import { LISTEN } from './sections/listen.ts'
import { RETENTION, recordsOutlastReorganisations } from './sections/retention.ts'
import { onlyPostgresHasReplicas, REPLICA, STORE } from './sections/store.ts'

const RPC = mapping('Requests to endpoints.', {
  max_answer_mib: integer(
    'The largest accepted response with blocks, receipts or logs, in MiB; larger receipts are fetched one by one.',
    // From the limit of any other response; no block that a chain accepts needs more than a gibibyte.
    { min: 16, max: 1024, unit: 'mebibytes', default: 256 },
  ),
})

const POLICY = open('Any subset of the pricing policy; a list replaces the whole list.', DEFAULT_POLICY, {
  examples: [{ max_hops: 3, min_depth_usd: 50 }],
  more: 'The keys are those of `packages/engine/policy/policy.ts`. `{ revision: 1 }` keeps the vote and the numbers of version 0.1 (R-policy-4); see [keeping a policy](OPERATIONS.md#keeping-a-policy).',
})

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
  { rules: [onlyPostgresHasReplicas, recordsOutlastReorganisations] },
)

/** The configuration as it was read: the keys of the file, every default filled in. */
export type ConfigDocument = ValueOf<typeof SCHEMA>
