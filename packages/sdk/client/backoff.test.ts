import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { delayMs, retrying, wait } from './backoff.ts'
import { RateLimitedError, RequestError, UnreachableError } from './failure.ts'

const BACKOFF = { baseMs: 100, maxMs: 5000, maxFailures: 4 }
const never = new AbortController().signal
const unreachable = () => new UnreachableError({ code: 'NETWORK', message: 'gone' })

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the delay is jittered between zero and a ceiling that doubles up to the maximum', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, luck) => {
        const delay = delayMs(BACKOFF, failures, () => luck)
        expect(delay).toBeGreaterThanOrEqual(0)
        expect(delay).toBeLessThanOrEqual(BACKOFF.maxMs)
        expect(delay).toBe(Math.floor(luck * Math.min(5000, 100 * 2 ** Math.min(failures - 1, 30))))
      },
    ),
  )
  expect([1, 2, 3, 7].map(n => delayMs(BACKOFF, n, () => 0.5))).toEqual([50, 100, 200, 2500])
})

test('waiting ends with the signal', async () => {
  const control = new AbortController()
  const waiting = wait(60_000, control.signal)
  control.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(wait(1, control.signal)).rejects.toThrow('enough')
  expect(vi.getTimerCount()).toBe(0)
})

test('a transient failure is retried, as often as allowed', async () => {
  let calls = 0
  const outcome = retrying(async () => (++calls < 3 ? Promise.reject(unreachable()) : calls), BACKOFF, never)
  await vi.runAllTimersAsync()
  expect(await outcome).toBe(3)

  calls = 0
  const failing = retrying(
    () => Promise.reject(new UnreachableError({ code: 'NETWORK', message: `${++calls}` })),
    BACKOFF,
    never,
  )
  const refused = expect(failing).rejects.toThrow('4')
  await vi.runAllTimersAsync()
  await refused
})

test('a permanent failure is thrown at once', async () => {
  let calls = 0
  const failing = () => {
    calls += 1
    return Promise.reject(new RequestError({ code: 'BAD_REQUEST', status: 400, message: 'no' }))
  }
  await expect(retrying(failing, BACKOFF, never)).rejects.toThrow('no')
  expect(calls).toBe(1)
})

test('a rate-limited caller waits at least the time in Retry-After', async () => {
  const limited = new RateLimitedError({
    code: 'RATE_LIMITED',
    status: 429,
    message: 'slow',
    retryAfterMs: 9000,
  })
  const answers = [Promise.reject(limited), Promise.resolve('done')]
  answers[0]?.catch(() => {})
  const outcome = retrying(() => answers.shift() as Promise<string>, BACKOFF, never)
  await vi.advanceTimersByTimeAsync(8999)
  expect(answers.length).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(await outcome).toBe('done')
})
