/**
 * What a v4 pool's hook can do to a swap, from the 14 lowest bits of its address. The manager calls a hook only as
 * these bits permit, so no call is needed and no hook can change its permissions.
 */
import type { Hook, HookClass } from '../adapter.ts'
import type { V4Terms } from './kind.ts'
import { DYNAMIC_FEE } from './swapFee.ts'

const FLAG = {
  beforeSwap: 1n << 7n,
  afterSwap: 1n << 6n,
  beforeSwapReturnsDelta: 1n << 3n,
  afterSwapReturnsDelta: 1n << 2n,
} as const

export const hookOf = ({ hooks, keyFee }: V4Terms): Hook => ({
  address: hooks,
  kind: hookClassOf(hooks, keyFee),
})

/** `hooks` is the address in the pool's key, `keyFee` the fee in that key. */
export function hookClassOf(hooks: string, keyFee: bigint): HookClass {
  const flags = BigInt(hooks)
  if ((flags & (FLAG.beforeSwapReturnsDelta | FLAG.afterSwapReturnsDelta)) !== 0n) return 'UNSUPPORTED'
  if (keyFee === DYNAMIC_FEE || (flags & (FLAG.beforeSwap | FLAG.afterSwap)) !== 0n) return 'FEE'
  return 'PLAIN'
}
