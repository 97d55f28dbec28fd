/** The chain an attack needs: two factories of each family, stables, WETH, and the attack's own tokens. */
import type { ChainPlan, OddTokenName, TokenOptions } from '@assay/world'
import { CHAIN_ID } from '../plan.ts'
import type { Hex } from '../testChain.ts'
import type { Rehearsal } from './rehearsal.ts'

/** Seconds between two blocks. */
export const BLOCK_S = 12

const at = (n: number): Hex => `0x${n.toString(16).padStart(40, 'a7')}`

export const planOf = ({ tokens, changing }: Rehearsal): ChainPlan => ({
  chainId: CHAIN_ID,
  name: 'Chain of attacks',
  blockTimeS: BLOCK_S,
  deployments: [
    { id: 'v3-a', family: 'amm_v3', factory: '0x1F98431c8aD98523631AE4a59f267346ea31F984' },
    { id: 'v3-b', family: 'amm_v3', factory: '0x33128a8fC17869897dcE68Ed026d694621f6FDfD' },
    { id: 'v2-a', family: 'amm_v2', factory: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f' },
    { id: 'v2-b', family: 'amm_v2', factory: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73' },
  ],
  tokens: [
    { symbol: 'USDC', decimals: 6, usd: 1, address: at(0x10), role: 'STABLE' },
    { symbol: 'USDT', decimals: 6, usd: 1, address: at(0x20), role: 'STABLE' },
    { symbol: 'WETH', decimals: 18, usd: 2000, address: at(0x30), role: 'ROUTING' },
    ...[...tokens].map(([symbol, options], n) => ({
      symbol,
      decimals: options.decimals ?? 18,
      usd: options.usd ?? 1,
      address: at(0x40 + n),
      role: 'TOKEN' as const,
      isProxied: changing.has(symbol),
      ...oddOf(symbol, options),
    })),
  ],
  pools: [],
})

/** The contract of a token that is not what it seems; nothing for any other. */
function oddOf(symbol: string, options: TokenOptions): { readonly odd?: OddTokenName } {
  const { sellTaxBps = 0, heldTimes = 1 } = options
  if (sellTaxBps === 0 && heldTimes === 1) return {}
  const isPlain = (options.decimals ?? 18) === 18
  if (isPlain && sellTaxBps === 3000 && heldTimes === 1) return { odd: 'SellTax' }
  if (isPlain && sellTaxBps === null && heldTimes === 1) return { odd: 'Honeypot' }
  if (isPlain && sellTaxBps === 0) return { odd: 'Rebasing' }
  throw new Error(`${symbol}: no odd token is like ${JSON.stringify(options)}`)
}
