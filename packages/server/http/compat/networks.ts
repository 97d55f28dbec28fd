/** The names vendors use for chains. Any chain also goes by its chain id in digits. */
import type { HttpContext, ServedChain } from '../plumbing/context.ts'

type Names = { readonly network: string; readonly platform: string; readonly llama: string }
/** Networks and platforms are CoinGecko's two lists of the same chains. */
export type Naming = keyof Names

const NAMES: Readonly<Record<number, Names>> = {
  1: { network: 'eth', platform: 'ethereum', llama: 'ethereum' },
  10: { network: 'optimism', platform: 'optimistic-ethereum', llama: 'optimism' },
  56: { network: 'bsc', platform: 'binance-smart-chain', llama: 'bsc' },
  137: { network: 'polygon_pos', platform: 'polygon-pos', llama: 'polygon' },
  8453: { network: 'base', platform: 'base', llama: 'base' },
  42_161: { network: 'arbitrum', platform: 'arbitrum-one', llama: 'arbitrum' },
  43_114: { network: 'avax', platform: 'avalanche', llama: 'avax' },
}

export const nameOf = (chainId: number, naming: Naming): string => NAMES[chainId]?.[naming] ?? `${chainId}`

/** Null for a chain that is not served. */
export function chainNamed(
  { chains }: Pick<HttpContext, 'chains'>,
  naming: Naming,
  name: string,
): ServedChain | null {
  const wanted = name.toLowerCase()
  for (const [chainId, chain] of chains)
    if (`${chainId}` === wanted || NAMES[chainId]?.[naming] === wanted) return chain
  return null
}

export const servedNames = ({ chains }: Pick<HttpContext, 'chains'>, naming: Naming): string =>
  [...chains.keys()].map(chainId => nameOf(chainId, naming)).join(', ')
