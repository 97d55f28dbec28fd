/**
 * The engine's own step, checked each time: every pool holds what the chain says at the tip, and the published state
 * of every token equals its present evaluation (`publishedPrices.ts`).
 */
import type { AmmState } from '../../packages/engine/amm/families.ts'
import { type Input, type State, step } from '../../packages/engine/index.ts'
import type { SimChain } from './chain.ts'
import { PublishedPrices } from './publishedPrices.ts'
import type { Verdict } from './verdict.ts'

export type Stepped = (state: State, input: Input) => void

export function watchedStep(
  chain: SimChain,
  verdict: Verdict,
  onStep: Stepped,
  inner: typeof step = step,
): typeof step {
  const prices = new WeakMap<State, PublishedPrices>()
  return (state, input) => {
    const result = inner(state, input)
    checkPools(chain, state, verdict)
    const known = prices.get(state) ?? new PublishedPrices(state, verdict)
    prices.set(state, known)
    known.check(input, result.changed)
    onStep(state, input)
    return result
  }
}

function checkPools(chain: SimChain, state: State, verdict: Verdict): void {
  const { tip } = state.chain
  const link = tip === null ? null : chain.at(tip.hash)
  if (link === null) return
  for (const { address, state: held } of state.pools.values()) {
    if (!held.verified || held.incomplete) continue
    const isThere = link.pools.some(pool => pool.address === address)
    verdict.check(
      'pools',
      isThere && isSame(held.amm, link.sim.amm(address)),
      () => `pool ${address} of chain ${chain.chainId} is not what it was at block ${link.block.number}`,
    )
  }
}

const isSame = (a: AmmState, b: AmmState): boolean =>
  a.family === 'amm_v2'
    ? b.family === 'amm_v2' && a.reserve0 === b.reserve0 && a.reserve1 === b.reserve1
    : b.family === 'amm_v3' &&
      a.sqrtPriceX96 === b.sqrtPriceX96 &&
      a.liquidity === b.liquidity &&
      a.tick === b.tick
