/**
 * A market independent of reader and time: every token's price and its evidence, every pool's
 * state. What depends on the looking (times, averages, sequences, finality) is left out.
 */
import type { Client, Pool, TokenQuote } from '@assay/sdk'
import { expect } from 'vitest'
import { CHAIN_ID } from './plan.ts'
import type { TestChain } from './testChain.ts'

type View = Awaited<ReturnType<typeof marketView>>

/**
 * Two services say the same of a market. Either may still be starting, or refuse who asks too often: both are asked
 * again, on a chain that continues, until they agree.
 */
export async function untilSameView(chain: TestChain, one: Client, other: Client): Promise<void> {
  let views: readonly (View | null)[] = []
  const isSame = async () => {
    views = await Promise.all([one, other].map(client => marketView(client).catch(() => null)))
    const [first, second] = views.map(view => JSON.stringify(view))
    return views[0] !== null && first === second
  }
  await chain.untilMining('the same market', isSame).catch((failure: unknown) => {
    expect(views[0]).toEqual(views[1])
    throw failure
  })
}

export async function marketView(client: Client) {
  const { pools } = await client.fetchPools({ chain_id: CHAIN_ID, limit: 1000 })
  const { tokens } = await client.fetchTokens({ chain_id: CHAIN_ID, limit: 1000 })
  const quotes: Record<string, object> = {}
  for (const { symbol, token_address } of tokens)
    quotes[symbol ?? token_address] = quoteView(
      await client.quoteToken({ chain_id: CHAIN_ID, token_address }),
    )
  return { pools: pools.map(poolView), quotes }
}

function poolView({ pool_address, token0, token1, state }: Pool) {
  return {
    pool_address,
    sides: [token0.token_address, token1.token_address],
    holds: state?.reserves ?? state?.slot,
    orientation: [state?.from, state?.to],
    marginal: state?.marginal,
    evidence: [state?.evidence?.kind, state?.evidence?.amount_in, state?.evidence?.amount_out],
    depth: [state?.depth?.up_microusd, state?.depth?.down_microusd, state?.depth?.current_microusd],
    reason: state?.reason,
  }
}

function quoteView(quote: TokenQuote): object {
  if (quote.state === 'PENDING') return { state: quote.state }
  if (quote.state === 'UNPRICED') return { state: quote.state, reason: quote.reason }
  return {
    state: quote.state,
    price_usd: quote.price_usd,
    selected: quote.selected?.route_id,
    stable: quote.stable,
    routes: quote.routes.map(({ route_id, accepted, reason, price_usd, hops }) => ({
      route_id,
      accepted,
      reason,
      price_usd,
      hops: hops.map(({ pool_id, ratio, marginal, evidence }) => ({
        pool_id,
        ratio,
        marginal,
        sold: [evidence?.kind, evidence?.amount_in, evidence?.amount_out],
      })),
    })),
  }
}
