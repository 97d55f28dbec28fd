/** How long what was found about a token is remembered: no longer than it may still be so. */
import { beforeEach, describe, expect, test } from 'vitest'
import { BudgetSpent } from '../../market/callBudget.ts'
import type { Address } from '../../ops/hex.ts'
import { QUIET } from '../../ops/testing/quiet.ts'
import { type EnrolmentContext, Enrolments } from './enrolments.ts'

const TOKEN: Address = `0x${'ab'.repeat(20)}`

let isToken: boolean
let lookUps: number
let failure: Error | null
let nowMs: number
let tip: { hash: string }
let enrolments: Enrolments
beforeEach(() => {
  ;[isToken, lookUps, failure, nowMs, tip] = [false, 0, null, 1_000, { hash: '0x01' }]
  const state = { tokens: new Map(), pools: new Map(), chain: { tip } }
  const read = async () => {
    lookUps++
    if (failure !== null) throw failure
    return new Set(isToken ? [TOKEN] : [])
  }
  enrolments = new Enrolments({
    state,
    intake: { facts: read, read: async () => [[]], pools: async () => undefined },
    marketOf: () => ({}),
    anchored: Promise.resolve(),
    apply: async () => ({ needs: [] }),
    inLane: (task: () => Promise<unknown>) => task(),
    now: () => nowMs,
    signal: new AbortController().signal,
    log: QUIET,
  } as unknown as EnrolmentContext)
})

const ask = () => enrolments.ask(TOKEN, 'someone')
const settled = async () => {
  expect(await ask()).toMatchObject({ state: 'PENDING' })
  while (enrolments.progressOf(TOKEN)?.state === 'PENDING') await new Promise(setImmediate)
}

describe('the absence of a token', () => {
  test('is valid for the block it was found at', async () => {
    await settled()
    expect(await ask()).toEqual({ state: 'TOKEN_UNKNOWN' })
    expect(lookUps).toBe(1)
  })

  test('is looked up again after the next block, and returned at once if still so', async () => {
    await settled()
    tip.hash = '0x02'
    expect(enrolments.progressOf(TOKEN)).toBeNull()
    expect(await ask()).toEqual({ state: 'TOKEN_UNKNOWN' })
    expect(lookUps).toBe(2)
    expect(await ask()).toEqual({ state: 'TOKEN_UNKNOWN' })
    expect(lookUps).toBe(2)
  })

  test('ends with the block that creates the token', async () => {
    await settled()
    tip.hash = '0x02'
    isToken = true
    expect(await ask()).toMatchObject({ state: 'PENDING' })
    while (enrolments.progressOf(TOKEN)?.state === 'PENDING') await new Promise(setImmediate)
    expect(lookUps).toBeGreaterThan(2)
  })
})

describe('a spent budget', () => {
  test('is returned with the remaining wait, and ends with it', async () => {
    failure = new BudgetSpent({ calls: 1, perSecond: 1 }, 5_000)
    await settled()
    expect(enrolments.progressOf(TOKEN)).toEqual({ state: 'BUDGET_EXCEEDED', retryAfterMs: 5_000 })
    nowMs += 3_000
    expect(enrolments.progressOf(TOKEN)).toEqual({ state: 'BUDGET_EXCEEDED', retryAfterMs: 2_000 })
    nowMs += 2_000
    expect(enrolments.progressOf(TOKEN)).toBeNull()
  })

  test('is returned as such when a token is looked up again', async () => {
    await settled()
    tip.hash = '0x02'
    failure = new BudgetSpent({ calls: 1, perSecond: 1 }, 5_000)
    expect(await ask()).toEqual({ state: 'BUDGET_EXCEEDED', retryAfterMs: 5_000 })
  })
})
