/**
 * What a v4 pool's hook can do to a swap, from the 14 lowest bits of its address. The manager calls a hook for
 * nothing else than what these bits say, so no call is needed and no hook can change its mind.
 */
import { DYNAMIC_FEE } from './swapFee.ts'

/**
 * `PLAIN`: no hook, or one that swaps never reach; they follow the pool's own curve and fee. `FEE`: the curve is
 * the pool's, but the hook sets the fee or is called around the swap and may refuse it. `UNSUPPORTED`: the hook
 * puts amounts of its own into the swap, up to all of it.
 */
export type HookClass = 'PLAIN' | 'FEE' | 'UNSUPPORTED'

const FLAG = {
  beforeSwap: 1n << 7n,
  afterSwap: 1n << 6n,
  beforeSwapReturnsDelta: 1n << 3n,
  afterSwapReturnsDelta: 1n << 2n,
} as const

/** `hooks` is the address in the pool's key, `keyFee` the fee there. */
export function hookClassOf(hooks: string, keyFee: bigint): HookClass {
  const flags = BigInt(hooks)
  if ((flags & (FLAG.beforeSwapReturnsDelta | FLAG.afterSwapReturnsDelta)) !== 0n) return 'UNSUPPORTED'
  if (keyFee === DYNAMIC_FEE || (flags & (FLAG.beforeSwap | FLAG.afterSwap)) !== 0n) return 'FEE'
  return 'PLAIN'
}
