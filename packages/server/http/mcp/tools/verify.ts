/** The tool `verify`: recomputes a price from its own evidence. Over stdio this happens on the machine of the agent. */
import { type EvaluatedQuote, verify, verifyOffline } from '@assay/sdk'
import type { Client } from '@assay/sdk'
import { PRICE_FIELDS, priceOf, refusedPrice } from '../price.ts'
import { list, object, text, TOKEN, type Tool, type TokenArguments, whole } from '../tool.ts'

const MOST_SHOWN = 20
/** The same surcharge as for on-demand computation over HTTP. */
const UNITS = 9

export const VERIFY: Tool = {
  name: 'verify',
  title: 'Recompute a price from its evidence',
  description:
    'Recomputes the price and score of a token from the evidence in its own quote, by the published rules, and reports whether every number follows. It does not read the chain; `assay verify --rpc` does, with a node of your choice.',
  input: object(TOKEN),
  output: object({
    ...PRICE_FIELDS,
    verified: { type: ['boolean', 'null'], description: 'Null if there is nothing to verify.' },
    checks: whole('How many numbers were compared.'),
    differing: list(
      text('A field of the quote.'),
      `Fields that do not follow from the others; at most ${MOST_SHOWN}.`,
    ),
  }),
  units: UNITS,
  async run(given, asked) {
    const token = given as unknown as TokenArguments
    const nothing = { verified: null, checks: 0, differing: [] }
    try {
      const quote = await asked.client.quoteToken(token)
      const price = priceOf(token, quote, asked)
      if (quote.state === 'PENDING' || (quote.state === 'UNPRICED' && quote.presented !== true))
        return { ...price, ...nothing }
      const { verified, checks, differences } = await verification(asked.client, token, quote)
      const differing = differences.slice(0, MOST_SHOWN).map(({ path }) => path)
      return { ...price, verified, checks, differing }
    } catch (failure) {
      return { ...refusedPrice(token, failure, asked), ...nothing }
    }
  },
}

/** For a state shown instead of the stored record: checks the record, then whether replacing it was justified. */
async function verification(client: Client, token: TokenArguments, quote: EvaluatedQuote) {
  const policy = await client.fetchPolicy(quote.policy_version)
  if (quote.state === 'PRICED') return verifyOffline(quote, { policy })
  const { chain_id, token_address } = token
  const at_sequence = quote.as_of.stream_sequence
  return verify(quote, {
    policy,
    history: await client.fetchHistory({ chain_id, token_address, at_sequence }),
  })
}
