/** One chain with a service on it and a client, shared by all tests of a file. `serve` replaces the service. */
import type { Client } from '@assay/sdk'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { planWith } from './plan.ts'
import { startTestChain, type TestChain } from './testChain.ts'
import { startTestService, type TestService, type TestServiceOptions } from './testService.ts'

export let chain: TestChain
export let service: TestService
/** Each test has one of its own, so that none spends another's quota. */
export let client: Client

/** Where the options are a function, it prepares the running chain before the service reads it. */
export function serveChain(
  plan = planWith(),
  options: TestServiceOptions | (() => Promise<TestServiceOptions>) = {},
  ofChain: Parameters<typeof startTestChain>[1] = {},
): void {
  beforeAll(async () => {
    chain = await startTestChain(plan, ofChain)
    await serve(startTestService(chain, typeof options === 'function' ? await options() : options))
  })
  beforeEach(async () => {
    client = await service.client()
  })
  afterAll(async () => {
    await service?.close()
    await chain?.close()
  })
}

/** In place of a service that has ended. */
export async function serve(starting: Promise<TestService>): Promise<void> {
  service = await starting
  client = await service.client()
}
