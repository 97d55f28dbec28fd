/** The tools `price` and `prices`: current prices of one token, or of up to fifty. */
import { QuoteError as BatchFailure } from '@assay/sdk'
import type { BatchResponse } from '@assay/sdk/wire'
import { PRICE_FIELDS, priceOf, refusedPrice } from '../price.ts'
import { list, object, TOKEN, type Tool, type TokenArguments } from '../tool.ts'

/** Fewer than in a batch over HTTP, because an agent reads every one. */
const MOST = 50

export const PRICE: Tool = {
  name: 'price',
  title: 'Price of a token',
  description:
    'The USD price of one token on one chain, read from on-chain pools and verified, with the block it is based on, a confidence score from 0 to 10 and its expiry. price_usd is null with a reason when there is no price or its score is below the minimum; it is never 0. Do not state a price without its score.',
  input: object(TOKEN),
  output: object(PRICE_FIELDS),
  async run(given, asked) {
    const token = given as unknown as TokenArguments
    try {
      return priceOf(token, await asked.client.quoteToken(token), asked)
    } catch (failure) {
      return refusedPrice(token, failure, asked)
    }
  },
}

export const PRICES: Tool = {
  name: 'prices',
  title: 'Prices of several tokens',
  description: `The USD prices of up to ${MOST} tokens from one snapshot, in the requested order, each with block, score and expiry, or null with a reason.`,
  input: object({
    tokens: {
      type: 'array',
      items: object(TOKEN),
      minItems: 1,
      maxItems: MOST,
      description: 'The tokens, each by chain and address.',
    },
  }),
  output: object({ prices: list(object(PRICE_FIELDS), 'In the requested order.') }),
  async run(given, asked) {
    const tokens = given['tokens'] as readonly TokenArguments[]
    const { quotes } = await asked.client.quoteTokens({ tokens })
    return { prices: quotes.map((entry, at) => entryOf(tokens[at] as TokenArguments, entry, asked)) }
  },
}

type Entry = BatchResponse['quotes'][number]

function entryOf(token: TokenArguments, entry: Entry, asked: Parameters<Tool['run']>[1]): object {
  if ('quote' in entry) return priceOf(token, entry.quote, asked)
  const { code, message, detail } = entry.error
  return refusedPrice(token, new BatchFailure({ code, message, detail, retryAfterMs: null }), asked)
}
