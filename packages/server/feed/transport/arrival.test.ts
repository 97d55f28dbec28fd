/** Which answers count as late: silent ones, however long the others take. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { noteArrival, noteQueued } from './arrival.ts'
import { hedged } from '../endpoints/hedge.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const LATE_MS = 100

/** Tries that never end, each given its signal; how many have begun is the length of the list. */
function endlessTries(): { readonly begun: AbortSignal[]; readonly abort: AbortController } {
  const begun: AbortSignal[] = []
  const abort = new AbortController()
  const attempt = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      begun.push(signal)
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  hedged({
    next: () => signal => attempt(signal),
    waitMs: () => LATE_MS,
    onFailure: error => {
      throw error
    },
    signal: abort.signal,
  }).catch(() => undefined)
  return { begun, abort }
}

it('a silent call is repeated after its usual time, and again', async () => {
  const { begun, abort } = endlessTries()
  await vi.advanceTimersByTimeAsync(LATE_MS - 1)
  expect(begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2)
  expect(begun).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(LATE_MS + 1)
  expect(begun).toHaveLength(3)
  abort.abort()
})

it('one whose response is still arriving is not, however long that takes', async () => {
  const { begun, abort } = endlessTries()
  for (let n = 0; n < 20; n++) {
    noteArrival(begun[0] as AbortSignal)
    await vi.advanceTimersByTimeAsync(LATE_MS - 1)
  }
  expect(begun).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(LATE_MS)
  expect(begun).toHaveLength(2)
  abort.abort()
})

it('nor is one that waits in our own queue', async () => {
  const { begun, abort } = endlessTries()
  noteQueued(begun[0] as AbortSignal)
  await vi.advanceTimersByTimeAsync(20 * LATE_MS)
  expect(begun).toHaveLength(1)
  noteArrival(begun[0] as AbortSignal)
  await vi.advanceTimersByTimeAsync(2 * LATE_MS - 1)
  expect(begun).toHaveLength(2)
  abort.abort()
})
