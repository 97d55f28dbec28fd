/** The fee of trading in a pool, for families whose fee may change. */
import type { AmmState } from '../amm/families.ts'
import type { Pool } from '../entities.ts'

/** The fee of selling X in the pool's present state, in parts per million. */
export const feeOf = (pool: Pool): bigint => feeIn(pool, pool.state.amm)

/** The fee in another state of the pool. */
export function feeIn({ around, feePpm, x }: Pool, amm: AmmState): bigint {
  const { feeNow } = around.adapter
  return feeNow === null ? feePpm : feeNow(amm, x)
}
