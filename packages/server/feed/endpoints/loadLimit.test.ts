import { describe, expect, it } from 'vitest'
import { systemClock } from '../../ops/clock.ts'
import { backOffMs } from './backOff.ts'
import { CallRecord } from './callRecord.ts'
import { Flow } from './loadLimit.ts'
import { RetryBudget } from './retryBudget.ts'

const { signal } = new AbortController()

/** How many calls are let in at once; the others are left waiting. */
async function width(flow: Flow): Promise<number> {
  let entered = 0
  const controller = new AbortController()
  const calls = Array.from({ length: 200 }, () =>
    flow.enter(controller.signal, 'block').then(
      () => entered++,
      () => {},
    ),
  )
  await Promise.resolve()
  controller.abort()
  await Promise.all(calls)
  for (let at = 0; at < entered; at++) flow.leave()
  return entered
}

describe('flow', () => {
  it('begins with 16 calls at once, halves when asked to slow down, never below one', async () => {
    const flow = new Flow('node', systemClock)
    expect(await width(flow)).toBe(16)
    flow.narrow()
    expect(await width(flow)).toBe(8)
    for (let at = 0; at < 9; at++) flow.narrow()
    expect(await width(flow)).toBe(1)
  })

  it('widens by about one for every window of successful calls, up to 64', async () => {
    const flow = new Flow('node', systemClock)
    for (let at = 0; at < 17; at++) flow.widen()
    expect(await width(flow)).toBe(17)
    for (let at = 0; at < 5000; at++) flow.widen()
    expect(await width(flow)).toBe(64)
  })

  it('admits the longest waiting first, and none that was aborted', async () => {
    const flow = new Flow('node', systemClock)
    for (let at = 0; at < 10; at++) flow.narrow()
    await flow.enter(signal)
    const order: string[] = []
    const impatient = new AbortController()
    const waiting = [
      flow.enter(impatient.signal).catch(() => order.push('gave up')),
      flow.enter(signal).then(() => order.push('first')),
      flow.enter(signal).then(() => order.push('second')),
    ]
    impatient.abort()
    await waiting[0]
    flow.leave()
    await waiting[1]
    flow.leave()
    await waiting[2]
    expect(order).toEqual(['gave up', 'first', 'second'])
  })

  it('refuses calls when thousands wait', async () => {
    const flow = new Flow('node', systemClock)
    const controller = new AbortController()
    const calls = Array.from({ length: 12 + 4096 }, () => flow.enter(controller.signal).catch(() => {}))
    await expect(flow.enter(signal)).rejects.toMatchObject({ code: 'ENDPOINT_BUSY', endpoint: 'node' })
    controller.abort()
    await Promise.all(calls)
  })
})

describe('the rate of a flow', () => {
  it('is unlimited, then half of the refused rate, then recovers by itself', async () => {
    let nowMs = 0
    const flow = new Flow('node', { nowMs: () => nowMs, monotonicMs: () => nowMs })
    for (let at = 0; at < 40; at++) {
      await flow.enter(signal)
      flow.leave()
      nowMs += 20
    }
    expect(flow.perSecond).toBe(Number.POSITIVE_INFINITY)
    flow.limited()
    expect(flow.perSecond).toBe(20)
    // Refusals of calls that were under way together are one.
    flow.limited()
    expect(flow.perSecond).toBe(20)
    for (let at = 0; at < 20; at++) {
      nowMs += 1000
      flow.limited()
    }
    expect(flow.perSecond).toBe(1)
    nowMs += 6 * 60_000
    for (let at = 0; at < 100_000 && Number.isFinite(flow.perSecond); at++) flow.widen()
    expect(flow.perSecond).toBe(Number.POSITIVE_INFINITY)
  })

  it('grows slowly close to the last refused rate', async () => {
    let nowMs = 0
    const flow = new Flow('node', { nowMs: () => nowMs, monotonicMs: () => nowMs })
    for (let at = 0; at < 40; at++) {
      await flow.enter(signal)
      flow.leave()
    }
    flow.limited()
    for (let at = 0; at < 1000 && flow.perSecond < 36; at++) flow.widen()
    const near = flow.perSecond
    for (let at = 0; at < 36; at++) flow.widen()
    expect(flow.perSecond - near).toBeLessThan(0.3)
  })

  it('is kept over time, each call of a batch counted', async () => {
    // The clock is frozen at first: forty calls within a second on any machine.
    const startedMs = systemClock.monotonicMs()
    let isRunning = false
    const monotonicMs = () => (isRunning ? systemClock.monotonicMs() : startedMs)
    const flow = new Flow('node', { ...systemClock, monotonicMs })
    for (let at = 0; at < 40; at++) {
      await flow.enter(signal, 'block')
      flow.leave()
    }
    flow.limited()
    expect(flow.perSecond).toBe(20)
    isRunning = true
    for (const calls of [1, 5, 5, 5, 1]) {
      await flow.enter(signal, 'block', calls)
      flow.leave()
    }
    // Sixteen calls came before the last one, five of them at once after the pause.
    expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(700)
  })
})

describe('when an endpoint sustains less than the demand', () => {
  it('blocks go before finality, finality before state, state before history', async () => {
    const flow = new Flow('node', systemClock)
    for (let at = 0; at < 10; at++) flow.narrow()
    await flow.enter(signal)
    const order: string[] = []
    const purposes = ['history', 'state', 'finality', 'block', 'head'] as const
    const waiting = purposes.map(async purpose => {
      await flow.enter(signal, purpose)
      order.push(purpose)
      flow.leave()
    })
    flow.leave()
    await Promise.all(waiting)
    expect(order).toEqual(['block', 'head', 'finality', 'state', 'history'])
  })

  it('calls that can wait leave a quarter of the slots to blocks', async () => {
    const flow = new Flow('node', systemClock)
    const controller = new AbortController()
    const states = Array.from({ length: 200 }, () => flow.enter(controller.signal, 'state').catch(() => {}))
    for (let at = 0; at < 4; at++) await flow.enter(signal, 'block')
    const late = flow.enter(controller.signal, 'block')
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
