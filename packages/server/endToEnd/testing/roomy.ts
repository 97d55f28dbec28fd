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
  return createClient({ baseUrl: service.url, apiKey: await roomyKey(service) })
}

export async function roomyKey(service: TestService): Promise<string> {
  const apiKey = await service.key(['read', 'stream', 'admin'], 'roomy')
  await createClient({ baseUrl: service.url, apiKey }).admin.setLimits('roomy', ROOMY)
  return apiKey
}
