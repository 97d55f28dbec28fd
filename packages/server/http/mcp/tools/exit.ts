/** The tool `exit`: what a seller of a token would receive, by size. */
import type { Exit } from '@assay/sdk'
import { dollars, PRICE_FIELDS, priceOf, refusedPrice } from '../price.ts'
import { list, object, text, textOrNull, TOKEN, type Tool, type TokenArguments } from '../tool.ts'

const SIZES = 8

const SALE = object({
  asked_usd: textOrNull('The requested size, in dollars at the published price.'),
  amount: text("What is sold, in the token's smallest units."),
  proceeds_usd: textOrNull('What it pays in dollars, after fees; null where there is no answer.'),
  average_price_usd: textOrNull('What one whole token of it fetches.'),
  distance_bps: textOrNull('How far that lies from price_usd, in hundredths of a percent; minus is below.'),
  reason: textOrNull('Why there is no answer for this size: LIQUIDITY_EXCEEDED or TOO_SMALL.'),
})
const LARGEST = {
  description: 'Null if even a sale of a dollar moves the price further.',
  anyOf: [
    object({ amount: text("In the token's smallest units."), worth_usd: text('At the published price.') }),
    { type: 'null' },
  ],
}

export const EXIT: Tool = {
  name: 'exit',
  title: 'What selling a token would pay',
  description: `What sales of given dollar sizes would pay now on the pools that set the price, after fees, with the distance from the price and the largest sale within 1% and 5% of it. Up to ${SIZES} sizes; computed at one block. It is a simulation and sends nothing.`,
  input: object(
    {
      ...TOKEN,
      usd: {
        type: 'array',
        items: { type: 'string', pattern: '^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,6})?$' },
        minItems: 1,
        maxItems: SIZES,
        description:
          'Sizes in dollars as decimal text, such as ["100","1000"]; by default 100, 1000 and 10000.',
      },
    },
    ['chain_id', 'token_address'],
  ),
  output: object({
    ...PRICE_FIELDS,
    sales: list(SALE, 'In the requested order; empty if there is no price to sell at.'),
    largest_within_1_percent: LARGEST,
    largest_within_5_percent: LARGEST,
  }),
  async run(given, asked) {
    const token = given as unknown as TokenArguments
    const usd = given['usd'] as readonly string[] | undefined
    const nothing = { sales: [], largest_within_1_percent: null, largest_within_5_percent: null }
    try {
      const answer = await asked.client.fetchExit({
        chain_id: token.chain_id,
        token_address: token.token_address,
        ...(usd === undefined ? {} : { usd: usd.join(',') }),
      })
      if ('state' in answer) return { ...priceOf(token, answer, asked), ...nothing }
      const price = priceOf(token, { ...answer, state: 'PRICED' }, asked)
      return price.price_usd === null ? { ...price, ...nothing } : { ...price, ...soldOf(answer) }
    } catch (failure) {
      return { ...refusedPrice(token, failure, asked), ...nothing }
    }
  },
}

const soldOf = ({ sales, largest }: Exit) => ({
  sales: sales.map(sale => ({
    asked_usd: sale.asked_microusd === null ? null : dollars(sale.asked_microusd),
    amount: sale.amount,
    proceeds_usd: sale.proceeds_microusd === null ? null : dollars(sale.proceeds_microusd),
    average_price_usd: sale.average_price_usd?.display ?? null,
    distance_bps: sale.distance_bps,
    reason: sale.reason,
  })),
  largest_within_1_percent: sizeOf(largest.bps_100),
  largest_within_5_percent: sizeOf(largest.bps_500),
})

const sizeOf = (size: Exit['largest']['bps_100']) =>
  size === null ? null : { amount: size.amount, worth_usd: dollars(size.worth_microusd) }
