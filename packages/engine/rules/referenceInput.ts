/**
 * The size of the sale used to judge a hop (R-evidence-3): large enough that rounding cannot move the price, and
 * small compared with the pool.
 */
import type { GrossDepth } from '../amm/adapter.ts'
import type { AmmState } from '../amm/families.ts'
import type { Pool } from '../entities.ts'
import type { Policy } from '../policy/policy.ts'

/**
 * The smallest gross X of at least depth/1000, and of at least a few units, whose output is at least 10,000 units;
 * null when that exceeds the depth. Ten thousand units of output alone keep rounding below a basis point: a token
 * with few decimals may be so valuable that one unit of it is a fair sale.
 */
export function referenceInput(pool: Pool, amm: AmmState, depth: GrossDepth, policy: Policy): bigint | null {
  const { evidence, revision } = policy
  const divisor = BigInt(evidence.reference_divisor)
  const leastOut = BigInt(evidence.reference_min_units)
  const leastIn =
    revision === 1 ? leastOut : BigInt(evidence.reference_min_input[pool.around.adapter.leastInput])
  const share = (depth.down + divisor - 1n) / divisor
  let input = share > leastIn ? share : leastIn
  if (input > depth.down) return null
  const { adapter } = pool.around
  const trial = adapter.swapExactIn(pool.terms, amm, pool.x, input)
  if ('reason' in trial) return null
  if (trial.amountOut < leastOut) {
    const smallest = adapter.smallestInput(pool.terms, amm, pool.x, leastOut)
    if (smallest === null || typeof smallest !== 'bigint') return null
    input = smallest
  }
  return input > depth.down ? null : input
}
