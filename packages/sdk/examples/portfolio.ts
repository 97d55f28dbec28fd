/**
 * The total value of some tokens, counting only prices with at least a given confidence. Exact until it is printed.
 * `node portfolio.ts CHAIN FLOOR TOKEN=AMOUNT …`, amounts in whole tokens, with ASSAY_URL and ASSAY_KEY.
 */
import { createClient, exact } from '@assay/sdk'

const { ASSAY_URL = 'http://127.0.0.1:8080', ASSAY_KEY = '' } = process.env
const client = createClient({ baseUrl: ASSAY_URL, apiKey: ASSAY_KEY })
const [chain = '1', floor = '4', ...holdings] = process.argv.slice(2)
const held = holdings.map(each => {
  const [token = '', amount = '0'] = each.split('=')
  return { token: token as `0x${string}`, amount: BigInt(amount) }
})
const { quotes } = await client.quoteTokens({
  tokens: held.map(({ token }) => ({ chain_id: Number(chain), token_address: token })),
  min_score: Number(floor),
})
let total: exact.Exact = { num: 0n, den: 1n }
quotes.forEach((entry, at) => {
  const { token, amount } = held[at] ?? { token: entry.token_address, amount: 0n }
  if ('error' in entry) console.log(`${token} left out: ${entry.error.code}`)
  else if (entry.quote.state !== 'PRICED') console.log(`${token} left out: ${entry.quote.state}`)
  else {
    const worth = exact.multiply(exact.from(entry.quote.price_usd), amount, 0)
    total = { num: total.num * worth.den + worth.num * total.den, den: total.den * worth.den }
    console.log(`${token} ${exact.format(worth, 8)} USD, confidence ${entry.quote.confidence.score}`)
  }
})
console.log(`total ${exact.format(total, 8)} USD`)
