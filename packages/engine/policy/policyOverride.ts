/** An operator's changes to the policy, laid over the default: one error names every fault there is. */
import { FORMER_POLICY, isFormer, unusedBy } from './former.ts'
import { DEFAULT_POLICY, POLICY, type Policy } from './policy.ts'
import { PolicyError, type PolicyFault } from './policyError.ts'

/** `overrides` is any subset of the policy object, over the numbers of its revision; undefined changes nothing. */
export function mergePolicy(overrides: unknown): Policy {
  if (overrides === undefined) return DEFAULT_POLICY
  const faults: PolicyFault[] = []
  const base = isFormer(overrides) ? FORMER_POLICY : DEFAULT_POLICY
  const merged = POLICY.read(overrides, base, 'policy', faults) as Policy
  const unused = faults.length > 0 ? null : unusedBy(merged)
  if (unused !== null) faults.push({ path: 'policy', received: JSON.stringify(merged), expected: unused })
  if (faults.length > 0) throw new PolicyError(faults)
  return merged
}
