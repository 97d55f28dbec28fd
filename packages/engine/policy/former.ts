/**
 * The policy of version 0.1, revision 1: its numbers, and how a policy stored by that version is read now.
 *
 * Law: the name of a policy of revision 1 omits each key unknown to version 0.1 that has the value below. So a policy
 * stored then keeps its name, and a quote made under it still verifies.
 */
import { count, score } from '../units.ts'
import { DEFAULT_POLICY, type Policy } from './policy.ts'
import { isPlainObject } from './received.ts'

type Fields = { readonly [key: string]: unknown }

/** Keys added later, each with the value that leaves a policy of version 0.1 unchanged. */
const LATER: Fields = {
  revision: 1,
  // Not read in revision 1.
  observation_floors_bps: DEFAULT_POLICY.observation_floors_bps,
  observation_kept_bps: DEFAULT_POLICY.observation_kept_bps,
  source_within_bps: DEFAULT_POLICY.source_within_bps,
  material_share_bps: DEFAULT_POLICY.material_share_bps,
  dissent: DEFAULT_POLICY.dissent,
  trade: DEFAULT_POLICY.trade,
  anchor_dispute: DEFAULT_POLICY.anchor_dispute,
  sellability: DEFAULT_POLICY.sellability,
  backing: DEFAULT_POLICY.backing,
  evidence: { reference_min_input: DEFAULT_POLICY.evidence.reference_min_input },
  stable: { dispute: DEFAULT_POLICY.stable.dispute },
}

/** Keys of version 0.1 that have gained fields since. */
const GROWN = ['evidence', 'stable']

/** Keys that a policy of version 0.1 had. */
const KNOWN_THEN = Object.keys(DEFAULT_POLICY).filter(
  key => GROWN.includes(key) || !Object.hasOwn(LATER, key),
)

export const FORMER_POLICY: Policy = {
  ...(over(DEFAULT_POLICY, LATER) as Policy),
  agreement: {
    ...DEFAULT_POLICY.agreement,
    edge_sources: [score(7), score(8), score(9), score(10)],
    path_sources: [score(5), score(7), score(8), score(9), score(10)],
    single_deployment_cap: score(8),
    spread: {
      ...DEFAULT_POLICY.agreement.spread,
      up_to: [
        [count(25), score(10)],
        [count(50), score(9)],
        [count(100), score(8)],
        [count(200), score(6)],
        [count(500), score(4)],
        [count(1000), score(3)],
      ],
    },
  },
}

/** Revision 1 as stated by the policy itself, or a whole policy without a revision, as version 0.1 wrote it. */
export function isFormer(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  if (Object.hasOwn(value, 'revision')) return value['revision'] === 1
  return KNOWN_THEN.every(key => Object.hasOwn(value, key))
}

/**
 * A whole policy as it was stored, of either revision. Its values are not checked: the caller compares its version
 * with the expected one.
 */
export function asStored(value: object): Policy {
  return over(isFormer(value) ? FORMER_POLICY : DEFAULT_POLICY, value as Fields) as Policy
}

/** The content from which the name of a policy is computed. */
export const namedBy = (policy: Policy): object => (policy.revision === 1 ? without(policy, LATER) : policy)

/** A key that only one revision reads must not be set under the other, where it would have no effect. */
export function unusedBy(policy: Policy): string | null {
  const unused = policy.revision === 1 ? Object.keys(LATER) : ['source_share_bps']
  const isSet = unused.some(
    key => !GROWN.includes(key) && !isEqual(policy[key as keyof Policy], FORMER_POLICY[key as keyof Policy]),
  )
  return isSet ? `the default of ${unused.join(', ')}, which revision ${policy.revision} does not read` : null
}

function over(base: object, fields: Fields): Fields {
  const merged: Record<string, unknown> = { ...base }
  for (const [key, field] of Object.entries(fields)) {
    const known = merged[key]
    merged[key] = isPlainObject(known) && isPlainObject(field) ? over(known, field) : field
  }
  return merged
}

/** `value` without the parts that equal `later` at the same path. */
function without(value: object, later: Fields): Fields {
  const left: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    if (Object.hasOwn(later, key) && isEqual(field, later[key])) continue
    left[key] = isPlainObject(field) && isPlainObject(later[key]) ? without(field, later[key]) : field
  }
  return left
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
