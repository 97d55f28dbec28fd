/**
 * Reports when a price is retracted, and the state that replaces it. `node alert.ts CHAIN`, with ASSAY_URL and
 * ASSAY_KEY.
 */
import { createClient } from '@assay/sdk'

const { ASSAY_URL = 'http://127.0.0.1:8080', ASSAY_KEY = '' } = process.env
const client = createClient({ baseUrl: ASSAY_URL, apiKey: ASSAY_KEY })
const follower = client.follow({ chain_id: Number(process.argv[2] ?? 1) })
process.once('SIGTERM', () => follower.close())
process.once('SIGINT', () => follower.close())

for await (const event of follower) {
  if (event.kind === 'status' && event.status === 'live') console.log('live')
  if (event.kind !== 'record' || event.record.type !== 'PRICE_RETRACT') continue
  const { payload } = event.record
  if (payload.scope !== 'token') continue
  const now =
    payload.current.state === 'PRICED' ? `${payload.current.price_usd.display} USD` : payload.current.reason
  console.log(`retracted ${payload.token_id}: ${payload.reason}; now ${now}`)
}
