/**
 * Pools that have not been verified lately. Where blocks are proven complete there are none; elsewhere a pool is read
 * again at half its time to live, a few at a time, so that silence on the chain is not mistaken for age.
 */
import { type Pool, type State, verifiedAt } from '@assay/engine'

/** Most pools read at once: each takes one or two calls. */
const MAX_AT_ONCE = 50

/** The pools whose last verification is older than half the chain's TTL, oldest first. */
export function quietPools(
  state: State,
  nowMs: number,
): readonly Pick<Pool, 'address' | 'deploymentId' | 'terms'>[] {
  const { policy } = state.policyView
  const ttlMs = policy.ttl_ms.by_chain[String(state.setup.chainId)] ?? policy.ttl_ms.default
  const quiet: { readonly pool: Pool; readonly atMs: number }[] = []
  for (const pool of state.pools.values()) {
    const atMs = verifiedAt(state.chain.proven, pool.state)
    if (pool.state.verified && nowMs - atMs > ttlMs / 2) quiet.push({ pool, atMs })
  }
  return quiet
    .sort((a, b) => a.atMs - b.atMs)
    .slice(0, MAX_AT_ONCE)
    .map(({ pool }) => pool)
}
