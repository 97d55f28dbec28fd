/**
 * The evidence a/b of a hop: a sale of X for Y, so the fee always has the same sign and the price does not bounce
 * between buys and sells (R-evidence-1).
 *
 * The last swap of the block is used if it is such a sale and admissible. Otherwise the protocol-exact adapter sells
 * a reference input on the block-final state. The evidence changes only with the pool's own state.
 */
import type { GrossDepth } from '../amm/adapter.ts'
import type { AmmEvent, AmmState } from '../amm/families.ts'
import type { BlockRef, LogPosition } from '../chain/block.ts'
import { apart, partsMore } from '../exact/apart.ts'
import type { Fraction } from '../exact/fraction.ts'
import type { Evidence, Pool } from '../entities.ts'
import type { Policy } from '../policy/policy.ts'
import { feeIn } from './poolFee.ts'
import { referenceInput } from './referenceInput.ts'

/** The last swap of a pool in a block, with the state it ran on. */
export type LastSwap = LogPosition & {
  readonly event: Extract<AmmEvent, { kind: 'SWAP' }>
  readonly base: AmmState
}

export type Settled = {
  readonly amm: AmmState
  readonly marginal: Fraction
  readonly depth: GrossDepth
}

/** Null when the depth is too shallow for an input of useful size (EVIDENCE_TOO_COARSE). */
export function evidenceOf(
  pool: Pool,
  settled: Settled,
  swap: LastSwap | null,
  block: BlockRef,
  policy: Policy,
): Evidence | null {
  const reference = referenceInput(pool, settled.amm, settled.depth, policy)
  if (reference === null) return null
  return observed(pool, settled, swap, reference, block, policy) ?? simulated(pool, settled, reference, block)
}

function simulated(pool: Pool, { amm }: Settled, input: bigint, block: BlockRef): Evidence | null {
  const swapped = pool.around.adapter.swapExactIn(pool.terms, amm, pool.x, input)
  if ('reason' in swapped) return null
  return {
    kind: 'SIMULATED_SWAP',
    amountIn: swapped.amountIn,
    amountOut: swapped.amountOut,
    block,
    transactionHash: null,
    logIndex: null,
  }
}

function observed(
  pool: Pool,
  { marginal, depth }: Settled,
  swap: LastSwap | null,
  reference: bigint,
  block: BlockRef,
  policy: Policy,
): Evidence | null {
  if (swap === null) return null
  const { input, output } = saleOf(pool, swap.event)
  if (input < reference || input > depth.down || output <= 0n) return null
  const fair = pool.around.adapter.swapExactIn(pool.terms, swap.base, pool.x, input)
  if ('reason' in fair) return null
  // A transfer fee or a skimmed output is visible here: the pool paid less than its own formula says.
  if (output * 10_000n < fair.amountOut * BigInt(policy.evidence.observed_output_share_bps)) return null
  const tolerancePpm = feeIn(pool, swap.base) + 100n * BigInt(policy.evidence.observed_tolerance_bps)
  if (apart({ num: output, den: input }, marginal, partsMore(tolerancePpm, 1_000_000n)) > 0) return null
  return {
    kind: 'OBSERVED_SWAP',
    amountIn: input,
    amountOut: output,
    block,
    transactionHash: swap.transactionHash,
    logIndex: swap.logIndex,
  }
}

/** Net X in and net Y out; negative for a purchase of X. */
export function saleOf(
  pool: Pool,
  event: LastSwap['event'],
): { readonly input: bigint; readonly output: bigint } {
  const [net0, net1] = pool.around.adapter.nets(event)
  return pool.x === 0 ? { input: net0, output: -net1 } : { input: net1, output: -net0 }
}
