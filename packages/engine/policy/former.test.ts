import { describe, expect, it } from 'vitest'
import { decodeState, encodeEntity, entityKeys } from '../stored/codec.ts'
import { DAI, E18, E6, P1, T, USDC } from '../testing/cast.ts'
import { scenario } from '../testing/scenario.ts'
import { FORMER_POLICY } from './former.ts'
import { DEFAULT_POLICY } from './policy.ts'
import { mergePolicy } from './policyOverride.ts'
import { policyVersion } from './policyVersion.ts'

/** What version 0.1 called its default policy. */
const NAME_0_1 = 'p4a191b55fa7facf0156085416073e961'
const LATER = [
  'revision',
  'observation_floors_bps',
  'observation_kept_bps',
  'source_within_bps',
  'material_share_bps',
  'dissent',
  'trade',
  'reference_min_input',
  'dispute',
  'anchor_dispute',
]
/** A policy as version 0.1 would have written it. */
const asThen = (policy: object): Record<string, unknown> =>
  JSON.parse(JSON.stringify(policy, (key, value: unknown) => (LATER.includes(key) ? undefined : value)))

describe('R-policy-4: the policy of version 0.1', () => {
  it('is revision 1, keeps its former name, and serves all of its numbers on request', () => {
    expect(policyVersion(FORMER_POLICY)).toBe(NAME_0_1)
    expect(mergePolicy({ revision: 1 })).toEqual(FORMER_POLICY)
    expect(mergePolicy({ revision: 1 }).agreement.edge_sources).toEqual([7, 8, 9, 10])
    expect(mergePolicy({ revision: 1 }).agreement.spread.up_to.map(([, value]) => value)).toEqual([
      10, 9, 8, 6, 4, 3,
    ])
    expect(mergePolicy({ revision: 2 })).toEqual(DEFAULT_POLICY)
  })

  it('reads as revision 1 when stored without a revision, and keeps its name', () => {
    expect(mergePolicy(asThen(FORMER_POLICY))).toEqual(FORMER_POLICY)
    const own = { ...asThen(FORMER_POLICY), max_hops: 2, source_share_bps: 500 }
    expect(policyVersion(mergePolicy(own))).not.toBe(NAME_0_1)
    expect(mergePolicy(own)).toEqual({ ...FORMER_POLICY, max_hops: 2, source_share_bps: 500 })
    expect(asThen(mergePolicy(own))).toEqual(own)
  })

  it('a partial policy without a revision is merged into the newest', () => {
    const { max_undo_blocks: _, ...part } = asThen(FORMER_POLICY)
    expect(() => mergePolicy(part)).not.toThrow()
    expect(mergePolicy(part).revision).toBe(2)
  })

  it('keys that a revision does not read are refused', () => {
    expect(() => mergePolicy({ source_share_bps: 500 })).toThrow('revision 2 does not read')
    expect(() => mergePolicy({ revision: 1, material_share_bps: 5000 })).toThrow('revision 1 does not read')
    expect(() => mergePolicy({ revision: 3 })).toThrow('policy.revision')
  })

  it('stays in force for a state that was stored with it', () => {
    const s = scenario({ stables: [USDC, DAI], policy: { revision: 1 } })
    s.v2(P1, [T, 1_000_000n * E18], [USDC, 2_000_000n * E6])
    s.enrol(T)
    const texts = [...entityKeys(s.state)].map(key => {
      const text = encodeEntity(s.state, key) as string
      if (key !== 'chain') return [key, text] as const
      const chain = JSON.parse(text)
      return [key, JSON.stringify({ ...chain, policy: asThen(chain.policy) })] as const
    })
    const restored = decodeState(s.state.setup, texts)
    expect(restored.policyView).toEqual(s.state.policyView)
    expect(restored.policyView.version).toBe(NAME_0_1)
  })
})
