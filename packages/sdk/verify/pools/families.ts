/** The pool families a reader can recompute: one line each. */
import type { EngineFamily } from '@assay/engine/rules'
import type { ShownFamily } from './family.ts'
import { v2 } from './v2.ts'
import { slotPool } from './v3.ts'
import { v4 } from './v4.ts'

const FAMILIES: { readonly [F in EngineFamily]: ShownFamily } = {
  amm_v2: v2,
  amm_v3: slotPool,
  amm_v3_pancake: slotPool,
  amm_algebra_v1: slotPool,
  amm_v4: v4,
}

export const FAMILY_NAMES = Object.keys(FAMILIES)

/** Null for a family of a newer service. */
export const familyOf = (name: string): ShownFamily | null =>
  Object.hasOwn(FAMILIES, name) ? FAMILIES[name as EngineFamily] : null
