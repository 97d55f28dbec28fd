import { describe, expect, it } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import { backOffMs } from './backOff.ts'
import { CallRecord } from './callRecord.ts'
import { LoadLimit } from './loadLimit.ts'
import { RetryBudget } from './retryBudget.ts'

const { signal } = new AbortController()

/** How many calls are let in at once; the others are left waiting. */
async function width(load: LoadLimit): Promise<number> {
  let entered = 0
  const controller = new AbortController()
  const calls = Array.from({ length: 200 }, () =>
    load.enter(controller.signal, 'block').then(
      () => entered++,
      () => {},
    ),
  )
  await Promise.resolve()
  controller.abort()
  await Promise.all(calls)
  for (let at = 0; at < entered; at++) load.leave()
  return entered
}

describe('the window of concurrent calls', () => {
  it('begins with 16 calls at once, halves when asked to slow down, never below one', async () => {
    const load = new LoadLimit('node', systemClock)
    expect(await width(load)).toBe(16)
    load.narrow()
    expect(await width(load)).toBe(8)
    for (let at = 0; at < 9; at++) load.narrow()
    expect(await width(load)).toBe(1)
  })

  it('widens by about one for every window of successful calls, up to 64', async () => {
    const load = new LoadLimit('node', systemClock)
    for (let at = 0; at < 17; at++) load.widen()
    expect(await width(load)).toBe(17)
    for (let at = 0; at < 5000; at++) load.widen()
    expect(await width(load)).toBe(64)
  })

  it('admits the longest waiting first, and none that was aborted', async () => {
    const load = new LoadLimit('node', systemClock)
    for (let at = 0; at < 10; at++) load.narrow()
    await load.enter(signal)
    const order: string[] = []
    const impatient = new AbortController()
    const waiting = [
      load.enter(impatient.signal).catch(() => order.push('gave up')),
      load.enter(signal).then(() => order.push('first')),
      load.enter(signal).then(() => order.push('second')),
    ]
    impatient.abort()
    await waiting[0]
    load.leave()
    await waiting[1]
    load.leave()
    await waiting[2]
    expect(order).toEqual(['gave up', 'first', 'second'])
  })

  it('refuses calls when thousands wait', async () => {
    const load = new LoadLimit('node', systemClock)
    const controller = new AbortController()
    const calls = Array.from({ length: 12 + 4096 }, () => load.enter(controller.signal).catch(() => {}))
    await expect(load.enter(signal)).rejects.toMatchObject({ code: 'ENDPOINT_BUSY', endpoint: 'node' })
    controller.abort()
    await Promise.all(calls)
  })
})

describe('the rate after a refusal', () => {
  it('is unlimited, then half of the refused rate, then recovers by itself', async () => {
    let nowMs = 0
    const load = new LoadLimit('node', { nowMs: () => nowMs, monotonicMs: () => nowMs })
    for (let at = 0; at < 40; at++) {
      await load.enter(signal)
      load.leave()
      nowMs += 20
    }
    expect(load.perSecond).toBe(Number.POSITIVE_INFINITY)
    load.limited()
    expect(load.perSecond).toBe(20)
    // Refusals of calls that were under way together are one.
    load.limited()
    expect(load.perSecond).toBe(20)
    for (let at = 0; at < 20; at++) {
      nowMs += 1000
      load.limited()
    }
    expect(load.perSecond).toBe(1)
    nowMs += 6 * 60_000
    for (let at = 0; at < 100_000 && Number.isFinite(load.perSecond); at++) load.widen()
    expect(load.perSecond).toBe(Number.POSITIVE_INFINITY)
  })

  it('grows slowly close to the last refused rate', async () => {
    let nowMs = 0
    const load = new LoadLimit('node', { nowMs: () => nowMs, monotonicMs: () => nowMs })
    for (let at = 0; at < 40; at++) {
      await load.enter(signal)
      load.leave()
    }
    load.limited()
    for (let at = 0; at < 1000 && load.perSecond < 36; at++) load.widen()
    const near = load.perSecond
    for (let at = 0; at < 36; at++) load.widen()
    expect(load.perSecond - near).toBeLessThan(0.3)
  })

  it('is kept over time, each call of a batch counted', async () => {
    // The clock is frozen at first: forty calls within a second on any machine.
    const startedMs = systemClock.monotonicMs()
    let isRunning = false
    const monotonicMs = () => (isRunning ? systemClock.monotonicMs() : startedMs)
    const load = new LoadLimit('node', { ...systemClock, monotonicMs })
    for (let at = 0; at < 40; at++) {
      await load.enter(signal, 'block')
      load.leave()
    }
    load.limited()
    expect(load.perSecond).toBe(20)
    isRunning = true
    for (const calls of [1, 5, 5, 5, 1]) {
      await load.enter(signal, 'block', calls)
      load.leave()
    }
    // Sixteen calls came before the last one, five of them at once after the pause.
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(700)
  })
})

describe('when an endpoint sustains less than the demand', () => {
  it('blocks go before finality, finality before state, state before history', async () => {
    const load = new LoadLimit('node', systemClock)
    for (let at = 0; at < 10; at++) load.narrow()
    await load.enter(signal)
    const order: string[] = []
    const purposes = ['history', 'state', 'finality', 'block', 'head'] as const
    const waiting = purposes.map(async purpose => {
      await load.enter(signal, purpose)
      order.push(purpose)
      load.leave()
    })
    load.leave()
    await Promise.all(waiting)
    expect(order).toEqual(['block', 'head', 'finality', 'state', 'history'])
  })

  it('calls that can wait leave a quarter of the slots to blocks', async () => {
    const load = new LoadLimit('node', systemClock)
    const controller = new AbortController()
    const states = Array.from({ length: 200 }, () => load.enter(controller.signal, 'state').catch(() => {}))
    for (let at = 0; at < 4; at++) await load.enter(signal, 'block')
    const late = load.enter(controller.signal, 'block')
    controller.abort(new Error('no place'))
    await expect(late).rejects.toThrow('no place')
    await Promise.all(states)
  })
})

describe('a retry budget', () => {
  it('runs out, and refills with time', () => {
    let nowMs = 0
    const budget = new RetryBudget({ nowMs: () => nowMs, monotonicMs: () => nowMs })
    let spent = 0
    while (budget.spend()) spent++
    expect(spent).toBe(256)
    nowMs += 1000
    for (spent = 0; budget.spend(); ) spent++
    expect(spent).toBe(32)
  })
})

describe('backOffMs', () => {
  it('doubles with every failure up to 30 s, and is at least half of that', () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 8, 100].map(failures => backOffMs(failures, () => 1))
    expect(most).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect([1, 8].map(failures => backOffMs(failures, () => 0))).toEqual([125, 15_000])
  })
})

describe('a call record', () => {
  it('gives the lower median of successful calls and the share of failed ones, of the last 64', () => {
    const record = new CallRecord()
    for (const ms of [40, 10, 30, 20]) record.succeeded(ms)
    record.failed()
    expect([record.p50Ms(), record.errorRate()]).toEqual([20, 0.2])
    for (let at = 0; at < 64; at++) record.succeeded(7.4)
    expect([record.p50Ms(), record.errorRate()]).toEqual([7, 0])
    for (let at = 0; at < 64; at++) record.failed()
    expect([record.p50Ms(), record.errorRate()]).toEqual([null, 1])
  })

  it('knows the usual time of a method after twenty calls of it', () => {
    const record = new CallRecord()
    for (let ms = 1; ms <= 19; ms++) record.succeeded(ms, 'eth_call')
    expect(record.usualMs('eth_call')).toBe(null)
    record.succeeded(1000, 'eth_call')
    expect(record.usualMs('eth_call')).toBe(19)
    expect(record.usualMs('eth_getLogs')).toBe(null)
  })

  it('counts calls by method and purpose', () => {
    const record = new CallRecord()
    record.began('eth_call', 'state')
    record.began('eth_call', 'state')
    record.began('eth_call', 'probe')
    expect(record.kinds).toEqual([
      { method: 'eth_call', purpose: 'state', calls: 2 },
      { method: 'eth_call', purpose: 'probe', calls: 1 },
    ])
  })
})
