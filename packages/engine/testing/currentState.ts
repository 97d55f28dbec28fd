/** What two folds must agree on that saw the same chain in the end, whatever they went through. */
import { evaluate, valueAssets } from '../price/evaluate.ts'
import { momentOf } from '../price/momentOf.ts'
import { quoteText } from '../price/publish/quoteJson.ts'
import type { State } from '../state.ts'
import type { Ms } from '../units.ts'
import { changesOf } from '../memory/temporalTape.ts'
import { visitImage } from '../stored/visitImage.ts'

/** What the chain made of the pools, and what every token is worth right now. */
export function currentState(state: State, atMs: Ms): unknown {
  const moment = momentOf(state, atMs)
  valueAssets(moment)
  return {
    tip: state.chain.tip,
    proven: state.chain.proven,
    pools: [...state.pools.values()]
      .map(({ terms, around: _around, ...pool }) => ({
        ...pool,
        published: null,
        state: {
          ...pool.state,
          history: changesOf(pool.state.history),
          visit: pool.state.visit && visitImage(pool.state.visit),
        },
        ticks: terms.family === 'amm_v3' ? [...terms.book.entries()] : null,
      }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
    stables: [...state.stables].sort(),
    pasts: [...state.tokens.values()].map(({ address, past }) => [address, past]).sort(),
    sellability: [...state.tokens.values()].map(({ address, sellability }) => [address, sellability]).sort(),
    decimals: [...state.tokens.values()].map(({ address, decimals }) => [address, decimals]).sort(),
    quotes: [...state.tokens.keys()]
      .sort()
      .map(token =>
        quoteText(state.setup.chainId, evaluate(moment, token), state.policyView.version, 'COMPUTED'),
      ),
  }
}
