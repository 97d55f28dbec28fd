/** Known properties of the two tokens of a pool. */
import type { Pool } from '@assay/sdk'
import type { Live } from '../live.ts'

export const symbolsOf = (live: Live, { chain_id, token0, token1 }: Pool): readonly [string, string] => [
  token0.symbol ?? live.symbol(chain_id, token0.token_address),
  token1.symbol ?? live.symbol(chain_id, token1.token_address),
]

/** Decimals come from the pool, otherwise from the list of tokens. */
export function decimalsOf(live: Live, { chain_id, token0, token1 }: Pool) {
  const of = (token: Pool['token0']) =>
    token.decimals ?? live.row(chain_id, token.token_address)?.token.decimals
  return [of(token0), of(token1)] as const
}
