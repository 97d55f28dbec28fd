/**
 * Prints the prices of a chain in a terminal, one per line, and the state of the feed. `node watch.ts CHAIN`, with
 * ASSAY_URL and ASSAY_KEY.
 */
import { createClient } from '@assay/sdk'

const { ASSAY_URL = 'http://127.0.0.1:8080', ASSAY_KEY = '' } = process.env
const client = createClient({ baseUrl: ASSAY_URL, apiKey: ASSAY_KEY })
const follower = client.follow({ chain_id: Number(process.argv[2] ?? 1) })
process.once('SIGTERM', () => follower.close())
process.once('SIGINT', () => follower.close())

for await (const event of follower) {
  if (event.kind === 'status') {
    console.log(`${event.status}${event.reason === null ? '' : ` (${event.reason})`}`)
    continue
  }
  const { type, payload } = event.record
  if (type === 'FEED_HEALTH') console.log(`feed ${payload.status}`)
  if (type === 'PRICE_UPSERT' && payload.scope === 'token' && payload.state === 'PRICED')
    console.log(
      `${payload.token_id} ${payload.price_usd.display} USD, confidence ${payload.confidence.score}`,
    )
}
