/** What it costs to trade in a pool, where its family lets the fee change too. */
import type { AmmState } from '../amm/families.ts'
import type { Pool } from '../entities.ts'

/** The fee of selling X in the pool's present state, in parts per million. */
export const feeOf = (pool: Pool): bigint => feeIn(pool, pool.state.amm)

/** The same in another state of it. */
export function feeIn({ around, feePpm, x }: Pool, amm: AmmState): bigint {
  const { feeNow } = around.adapter
  return feeNow === null ? feePpm : feeNow(amm, x)
}
