/**
 * Limits the endpoint calls that client requests may cause: a bucket of calls that refills with time. Following the
 * chain and keeping prices current does not use it, and so never waits for it.
 */
import type { ChainRpc } from '../feed/feed.ts'
import type { Clock } from '../ops/clock.ts'

export type BudgetLimits = { readonly calls: number; readonly perSecond: number }

/** A large token with pools everywhere takes some hundred calls where there is no Multicall3. */
export const ON_DEMAND: BudgetLimits = { calls: 5000, perSecond: 50 }

/** No endpoint is at fault, and a retry before the bucket refills fails the same way. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  readonly retryAfterMs: number

  constructor({ perSecond }: BudgetLimits, retryAfterMs: number) {
    super(`the call budget for on-demand work is exhausted; it refills at ${perSecond} a second`)
    this.retryAfterMs = retryAfterMs
  }
}

/** Throws BudgetSpent once the bucket is empty. */
export function budgeted(rpc: ChainRpc, clock: Clock, limits: BudgetLimits = ON_DEMAND): ChainRpc {
  let left = limits.calls
  let atMs = clock.monotonicMs()
  const spend = () => {
    const nowMs = clock.monotonicMs()
    left = Math.min(limits.calls, left + ((nowMs - atMs) / 1000) * limits.perSecond)
    atMs = nowMs
    if (left < 1) throw new BudgetSpent(limits, Math.ceil(((1 - left) / limits.perSecond) * 1000))
    left--
  }
  return {
    async call(to, data, blockHash, signal) {
      spend()
      return rpc.call(to, data, blockHash, signal)
    },
    async code(address, blockHash, signal) {
      spend()
      return rpc.code(address, blockHash, signal)
    },
  }
}
