/**
 * What another contract may do to the swaps of a pool (R-hook-1, R-hook-2). A hook that adds amounts of its own to
 * swaps leaves no curve to compute. A hook that sets the fee or may refuse swaps leaves a price that is trusted less.
 */
import type { Hook } from '../amm/adapter.ts'
import type { Pool } from '../entities.ts'
import { score } from '../units.ts'
import type { Cap, Failure } from './reasons.ts'

/**
 * The curve is exact and the last fee is known, but the hook decides the next fee and whether a swap happens at all.
 */
export const HOOK_FEE: Cap = { code: 'HOOK_FEE', cap: score(6) }
const CAPPED: readonly Cap[] = [HOOK_FEE]
const NONE: readonly Cap[] = []

export const hookCaps = (pool: Pool): readonly Cap[] => (hookOf(pool)?.kind === 'FEE' ? CAPPED : NONE)

export function hookFailure(pool: Pool): Failure | null {
  const hook = hookOf(pool)
  return hook?.kind === 'UNSUPPORTED'
    ? { rule: 'HOOK_UNSUPPORTED', actual: `hook ${hook.address}`, required: 'a hook that adds no amounts' }
    : null
}

function hookOf({ around, terms }: Pool): Hook | null {
  const { hook } = around.adapter
  return hook === null ? null : hook(terms)
}
