/** A quota that earns nothing back while a test runs: what is left of it follows from what was spent, and from no clock. */
import { createClient } from '@assay/sdk'
import { ROOMY } from './roomy.ts'
import type { TestService } from './testService.ts'

const DAY_MS = 86_400_000

let consumers = 0

/** A key of a consumer that may spend so many units in all. */
export async function frugalKey(service: TestService, units: number): Promise<string> {
  const consumer = `frugal-${++consumers}`
  const key = await service.key(['read', 'stream'], consumer)
  const operator = createClient({ baseUrl: service.url, apiKey: await service.key(['admin']) })
  await operator.admin.setLimits(consumer, { ...ROOMY, units: 1, window_ms: DAY_MS, burst: units })
  return key
}
