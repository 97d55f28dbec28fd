/**
 * The pool families: one line of types and one adapter each, plus the name. Callers hold a pool of some family and
 * never ask which.
 */
import type { Adapter, Kind } from './adapter.ts'
import type { Family } from './familyNames.ts'
import { v2 } from './v2/v2.ts'
import type { V2 } from './v2/kind.ts'
import { algebra } from './algebra/algebra.ts'
import type { Algebra } from './algebra/kind.ts'
import type { Pancake } from './pancake/kind.ts'
import { staticFee } from './staticFee.ts'
import type { V3 } from './v3/kind.ts'
import { v4 } from './v4/v4.ts'
import type { V4 } from './v4/kind.ts'

type Kinds = V2 | V3 | V4 | Pancake | Algebra

const ADAPTERS: { readonly [F in Family]: Adapter<Extract<Kinds, { readonly family: F }>> } = {
  amm_v2: v2,
  amm_v3: staticFee('amm_v3'),
  amm_v3_pancake: staticFee('amm_v3_pancake'),
  amm_algebra_v1: algebra,
  amm_v4: v4,
}

export type Born = Kinds['born']
export type PoolTerms = Kinds['terms']
export type AmmState = Kinds['state']
export type AmmEvent = Kinds['event']
/** An event with the family that emitted it. */
export type FamilyEvent = Kinds extends infer K
  ? K extends Kind
    ? { readonly family: K['family']; readonly event: K['event'] }
    : never
  : never

/** An adapter of any family; terms, state and event must all belong to that family. */
export type AnyAdapter = Adapter<Kinds>

/** Terms, state and event must belong to the family. A pool's always do, because its terms name the family. */
export function adapterOf<F extends Family>(family: F): Adapter<Extract<Kinds, { readonly family: F }>> {
  return ADAPTERS[family]
}
