/** What a reader gets of a token: its quote, as an attack's look has it. */
import type { Client } from '@assay/sdk'
import type { Look } from '@assay/world'
import type { Hex } from '../testChain.ts'

export async function seenOf(
  client: Client,
  chainId: number,
  token: Hex,
): Promise<Pick<Look, 'usd' | 'score' | 'codes'>> {
  const quote = await client.quoteToken({ chain_id: chainId, token_address: token })
  if (quote.state !== 'PRICED')
    return { usd: null, score: 0, codes: [quote.state === 'UNPRICED' ? quote.reason : quote.state] }
  return {
    usd: Number(quote.price_usd.display),
    score: quote.confidence.score,
    codes: quote.confidence.caps.map(({ code }) => code),
  }
}
