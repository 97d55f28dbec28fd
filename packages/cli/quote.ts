/** `assay quote`: one token's price as a person reads it, or the whole answer as JSON. */
import { createClient } from '@assay/sdk'

type Options = { readonly url: string; readonly key?: string; readonly json?: boolean }

export async function printQuote(chain: string, token: string, options: Options): Promise<void> {
  const client = createClient({
    baseUrl: options.url,
    ...(options.key === undefined ? {} : { apiKey: options.key }),
  })
  const quote = await client.quoteToken({ chain_id: Number(chain), token_address: token as `0x${string}` })
  if (options.json === true) {
    console.log(JSON.stringify(quote))
    return
  }
  if (quote.state === 'PENDING')
    console.log(
      `pending: ${quote.stage.toLowerCase()}; ask again in ${Math.ceil(quote.retry_after_ms / 1000)} s`,
    )
  else if (quote.state === 'UNPRICED') {
    console.log(`unpriced: ${quote.reason}`)
    process.exitCode = 3
  } else {
    const { score, label, caps } = quote.confidence
    console.log(`${quote.price_usd.display} USD`)
    console.log(
      `confidence ${score} (${label})${caps.length === 0 ? '' : `, held by ${caps.map(({ code, cap }) => `${code} ≤ ${cap}`).join(', ')}`}`,
    )
    console.log(
      `block ${quote.as_of.block_number}, ${Math.max(0, Math.round((Date.now() - quote.as_of.block_time_ms) / 1000))} s ago, route ${quote.selected?.route_id ?? 'none'}`,
    )
  }
}
