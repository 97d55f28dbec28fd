/** How often and how soon a call is repeated while no answer arrives. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import type { Endpoint } from './endpoint.ts'
import { EndpointSet } from './endpointSet.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Answers within 20 ms as a rule, and never what it is asked here. */
const silent = {
  isUsable: true,
  isInStep: true,
  isSubscribed: false,
  usualMs: () => 20,
  overtaken: () => {},
} as unknown as Endpoint

/** Milliseconds from the question to each of its tries. */
async function triesOf(isLarge: boolean): Promise<readonly number[]> {
  const abort = new AbortController()
  const startedMs = performance.now()
  const begun: number[] = []
  const never = (_: Endpoint, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      begun.push(Math.floor((performance.now() - startedMs) / 10) * 10)
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const ask = { method: 'eth_getBlockReceipts', signal: abort.signal, isLarge }
  const asked = new EndpointSet([silent], systemClock).attempt(never, undefined, ask)
  const ended = asked.catch((failure: unknown) => failure)
  await vi.advanceTimersByTimeAsync(30_000)
  abort.abort(new Error('enough'))
  expect(await ended).toEqual(new Error('enough'))
  return begun
}

it('a call without an answer is made four times, each wait twice as long as the one before', async () => {
  expect(await triesOf(false)).toEqual([0, 250, 750, 1750])
})

it('a block with its receipts is requested once more, after a second: its response may take that long to build', async () => {
  expect(await triesOf(true)).toEqual([0, 1000])
})
