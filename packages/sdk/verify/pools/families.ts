/** The pool families a reader can recompute: one line each. */
import type { EngineFamily } from '@assay/engine/rules'
import type { VerifyFamily } from './family.ts'
import { algebra } from './algebra.ts'
import { v2 } from './v2.ts'
import { pancake, v3 } from './v3.ts'
import { v4 } from './v4.ts'

const FAMILIES: { readonly [F in EngineFamily]: VerifyFamily } = {
  amm_v2: v2,
  amm_v3: v3,
  amm_v3_pancake: pancake,
  amm_algebra_v1: algebra,
  amm_v4: v4,
}

export const FAMILY_NAMES = Object.keys(FAMILIES)

/** Null for one that a newer service has. */
export const familyOf = (name: string): VerifyFamily | null =>
  Object.hasOwn(FAMILIES, name) ? FAMILIES[name as EngineFamily] : null
