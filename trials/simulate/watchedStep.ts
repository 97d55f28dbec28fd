/**
 * The engine's own step, checked each time: every pool equals the chain at the tip, and the published state
 * of every token equals its present evaluation (`publishedPrices.ts`).
 */
import { adapterOf, type AmmState, type PoolTerms } from '../../packages/engine/amm/families.ts'
import type { Family } from '../../packages/engine/amm/familyNames.ts'
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
  for (const { address, state: held, terms } of state.pools.values()) {
    if (!held.verified || held.incomplete) continue
    const isThere = link.pools.some(pool => pool.address === address)
    verdict.check(
      'pools',
      isThere && isSame(terms, held.amm, link.sim.amm(address)),
      () => `pool ${address} of chain ${chain.chainId} is not what it was at block ${link.block.number}`,
    )
  }
}

function isSame(terms: PoolTerms, a: AmmState, b: AmmState): boolean {
  const adapter = adapterOf<Family>(a.family)
  return adapter === adapterOf<Family>(b.family) && adapter.differences(terms, a, b).length === 0
}
