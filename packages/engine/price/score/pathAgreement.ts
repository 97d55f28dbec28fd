/** How well the sources of a token agree, according to the revision of its policy (R-path-1, R-path-2). */
import type { Pool } from '../../entities.ts'
import type { Policy } from '../../policy/policy.ts'
import { formerPathAgreement, pathAgreement } from '../../rules/agreement.ts'
import type { Consensus } from '../../rules/consensus.ts'
import { sourceScore, sourcesOf } from '../../rules/sources.ts'
import { count } from '../../units.ts'
import type { Agreement, Edge, Route } from '../evaluation.ts'

/** `hops` are the material first hops: in revision 1 they are the sources. */
export function agreementOf(
  policy: Policy,
  verdict: Consensus,
  hops: ReadonlySet<Edge>,
  accepted: readonly Route[],
  others: readonly Route[],
  selected: Route,
): Agreement {
  const support = (pools: readonly Pool[]) => ({
    sources: count(pools.length),
    deployments: count(new Set(pools.map(({ deploymentId }) => deploymentId)).size),
    spreadBps: verdict.spreadBps,
    keptWeight: verdict.keptWeight,
    totalWeight: verdict.totalWeight,
    unresolved: verdict.unresolved,
  })
  if (policy.revision === 1) return formerPathAgreement(support([...hops].map(({ pool }) => pool)), policy)
  const sources = sourcesOf(policy, accepted, others, ({ first }) => first.pool, selected)
  const together = sourceScore(policy, sources, ({ deploymentId }) => deploymentId)
  return pathAgreement(support(sources.map(({ first }) => first)), together, policy)
}
