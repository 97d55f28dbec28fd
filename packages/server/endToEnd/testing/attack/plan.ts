/** The chain an attack needs: the factories of its pools, stables, WETH, and the attack's own tokens. */
import {
  type ChainPlan,
  type OddTokenName,
  POOL_FAMILIES,
  type PoolFamily,
  type TokenOptions,
} from '@assay/world'
import { CHAIN_ID } from '../plan.ts'
import type { Hex } from '../testChain.ts'
import { BLOCK_S, type Rehearsal } from './rehearsal.ts'

const at = (n: number): Hex => `0x${n.toString(16).padStart(40, 'a7')}`

type DeploymentPlan = ChainPlan['deployments'][number]

/** Some are where they are on a live chain. */
const FACTORIES: Readonly<Record<PoolFamily, readonly Hex[]>> = {
  v2: ['0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f', '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73'],
  v3: ['0x1F98431c8aD98523631AE4a59f267346ea31F984', '0x33128a8fC17869897dcE68Ed026d694621f6FDfD'],
  pancake: [at(0xf1), at(0xf2)],
  algebra: [at(0xf3), at(0xf4)],
  v4: [at(0xf5)],
}
/** Those that leave the creation of pools to another contract. */
const DEPLOYERS: Partial<typeof FACTORIES> = {
  pancake: [at(0xd1), at(0xd2)],
  algebra: [at(0xd3), at(0xd4)],
}

const deploymentsOf = (family: PoolFamily): readonly DeploymentPlan[] =>
  POOL_FAMILIES[family].factories.map((which, n) => {
    const deployer = DEPLOYERS[family]?.[n]
    return {
      id: `${family}-${which}`,
      family: POOL_FAMILIES[family].name,
      factory: FACTORIES[family][n] as Hex,
      ...(deployer === undefined ? {} : { deployer }),
    }
  })

/** Pairs and v3 are on every chain: impostors and the pools of WETH need them. */
export const planOf = ({ tokens, changing, families }: Rehearsal): ChainPlan => ({
  chainId: CHAIN_ID,
  name: 'Chain of attacks',
  blockTimeS: BLOCK_S,
  deployments: [...new Set(['v3', 'v2', ...families] as const)].flatMap(deploymentsOf),
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
