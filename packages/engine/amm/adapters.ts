/**
 * The adapter of each pool family. Callers hold a pool of some family and never ask which.
 */
import type { Family, V2Event, V2State, V3Event, V3State } from './states.ts'
import type { Adapter, AnyAdapter, V2Terms, V3Terms } from './adapter.ts'
import { v2 } from './v2.ts'
import { v3 } from './v3.ts'

type V2Adapter = Adapter<V2Terms, V2State, V2Event>
type V3Adapter = Adapter<V3Terms, V3State, V3Event>

const adapters: { readonly amm_v2: V2Adapter; readonly amm_v3: V3Adapter } = { amm_v2: v2, amm_v3: v3 }

/** Terms, state and event must be of the family; a pool's always are, as its terms name it. */
export function adapterOf(family: 'amm_v2'): V2Adapter
export function adapterOf(family: 'amm_v3'): V3Adapter
export function adapterOf(family: Family): AnyAdapter
export function adapterOf(family: Family): V2Adapter | V3Adapter {
  return adapters[family]
}
