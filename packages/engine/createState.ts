/** A new, empty state. Stables and routing assets are known from the start, because other tokens need them. */
import { adapterOf } from './amm/families.ts'
import { knownToken } from './chain/registry.ts'
import { emptyIndex } from './chain/emptyIndex.ts'
import { DEFAULT_POLICY, type Policy } from './policy/policy.ts'
import { policyVersion } from './policy/policyVersion.ts'
import { anchorsOf, type ChainSetup } from './setup.ts'
import type { State } from './state.ts'
import { count } from './units.ts'

export function createState(setup: ChainSetup, policy: Policy = DEFAULT_POLICY): State {
  const state: State = {
    setup,
    adapterOf,
    policyView: { policy, version: policyVersion(policy) },
    chain: {
      steps: count(0),
      tip: null,
      finalized: null,
      proven: [],
      sequencer: null,
      health: null,
      paused: false,
      anchors: {},
      anchorUsd: {},
    },
    pools: new Map(),
    tokens: new Map(),
    stables: new Map(),
    coverage: new Map(),
    journals: [],
    gaps: [],
    index: emptyIndex(),
  }
  for (const anchor of anchorsOf(setup)) knownToken(state, anchor)
  return state
}
