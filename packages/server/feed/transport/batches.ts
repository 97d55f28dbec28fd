/**
 * Sends simultaneous calls over HTTP: in batches where the endpoint supports them, otherwise one by one. A batch is
 * never larger than half a second of the endpoint's rate limit.
 */
import type { Call, Settled } from './connection.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { isFeedError } from '../feedError.ts'
import type { Purpose } from '../endpoints/purpose.ts'

/** Calls in one request: providers allow from 10 or 20 up to 1,000. */
const MOST_IN_A_BATCH = 50

/** Outcomes in the order of the calls. Throws when a batch as a whole failed, or the endpoint did. */
export async function requestAll(
  endpoint: Endpoint,
  calls: readonly Call[],
  signal: AbortSignal,
  purpose?: Purpose,
): Promise<readonly Settled[]> {
  const most = Math.max(1, Math.min(MOST_IN_A_BATCH, Math.floor(endpoint.callsPerSecond / 2)))
  const groups = Array.from({ length: Math.ceil(calls.length / most) }, (_, n) =>
    calls.slice(n * most, (n + 1) * most),
  )
  return (await Promise.all(groups.map(group => requestGroup(endpoint, group, signal, purpose)))).flat()
}

async function requestGroup(
  endpoint: Endpoint,
  calls: readonly Call[],
  signal: AbortSignal,
  purpose: Purpose | undefined,
): Promise<readonly Settled[]> {
  const single = ({ method, params }: Call): Promise<Settled> =>
    settled(endpoint.request(method, params, signal, purpose))
  if (calls.length < 2 || !endpoint.takesBatches) return Promise.all(calls.map(single))
  try {
    const outcomes = await endpoint.requestBatch(calls, signal, purpose)
    endpoint.abilities.answered('batches')
    // Calls refused by a rate limit are retried at the slower rate.
    return await Promise.all(
      outcomes.map(async (each, at) =>
        'error' in each && each.error.code === 'ENDPOINT_LIMITED' ? single(calls[at] as Call) : each,
      ),
    )
  } catch (error) {
    if (!endpoint.abilities.refused('batches', error)) throw error
    return Promise.all(calls.map(single))
  }
}

async function settled(result: Promise<unknown>): Promise<Settled> {
  try {
    return { result: await result }
  } catch (error) {
    if (isFeedError(error)) return { error }
    throw error
  }
}
