/** Limits that nobody reaches: for a consumer whose quota is not what a test is about. */
import { type Client, createClient } from '@assay/sdk'
import type { TestService } from './testService.ts'

export const ROOMY = {
  units: 1_000_000_000,
  window_ms: 1000,
  burst: 1_000_000,
  stream_connections: 2000,
  enrolments_per_day: 1,
}

/** A client that may do everything, as often as it likes. */
export async function roomyClient(service: TestService): Promise<Client> {
  const apiKey = await service.key(['read', 'stream', 'admin'], 'roomy')
  const client = createClient({ baseUrl: service.url, apiKey })
  await client.admin.setLimits('roomy', ROOMY)
  return client
}
