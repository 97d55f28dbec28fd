/** How to read pools of each family from a node: one line each. */
import type { EngineFamily } from '@assay/engine/rules'
import { algebraAtNode } from './algebra.ts'
import type { ChainFamily } from './family.ts'
import { v2AtNode } from './v2.ts'
import { pancakeAtNode, v3AtNode } from './v3.ts'
import { v4AtNode } from './v4.ts'

const FAMILIES: { readonly [F in EngineFamily]: ChainFamily } = {
  amm_v2: v2AtNode,
  amm_v3: v3AtNode,
  amm_v3_pancake: pancakeAtNode,
  amm_algebra_v1: algebraAtNode,
  amm_v4: v4AtNode,
}

/** Null for a family of a newer service. */
export const chainFamilyOf = (name: string): ChainFamily | null =>
  Object.hasOwn(FAMILIES, name) ? FAMILIES[name as EngineFamily] : null
