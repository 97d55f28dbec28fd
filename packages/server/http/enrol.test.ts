import { describe, expect, it } from 'vitest'
import type { Principal } from '../access/access.ts'
import { systemClock } from '../ops/clock.ts'
import type { Address } from '../ops/config.ts'
import type { Enrolment } from '../worker/chainService.ts'
import { QuoteError } from './apiError.ts'
import type { HttpContext, ServedChain } from './context.ts'
import { enrolFor } from './enrol.ts'

const TOKEN: Address = `0x${'11'.repeat(20)}`
const principal = { consumer: 'someone', limits: null } as Principal

/** A chain that says this of every token, now and once it is asked to enrol it. */
function asking(progress: Enrolment | null, enrolment: Enrolment, isWithinDay = true) {
  const asked: string[] = []
  const service = {
    progress: async () => progress,
    enrol: async (token: string, consumer: string) => {
      asked.push(`enrol ${token} for ${consumer}`)
      return enrolment
    },
  }
  const context = { store: { claimEnrolment: async () => isWithinDay }, clock: systemClock }
  const chain = { config: { chainId: 1 }, service: () => service }
  const pay = async () => {
    asked.push('pay')
  }
  return {
    asked,
    answer: enrolFor(
      context as unknown as HttpContext,
      principal,
      chain as unknown as ServedChain,
      TOKEN,
      pay,
    ).catch((failure: unknown) => failure),
  }
}

const PENDING = { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: 1000 } as const

describe('a token that is not known yet', () => {
  it('R-quote-6: is paid for before its look-up starts, and the look-up counts for who asked', async () => {
    const { answer, asked } = asking(null, PENDING)
    expect(await answer).toEqual(PENDING)
    expect(asked).toEqual(['pay', `enrol ${TOKEN} for someone`])
  })

  it('R-quote-6: is not paid for again while it is on its way in', async () => {
    const { answer, asked } = asking(PENDING, PENDING)
    expect(await answer).toEqual(PENDING)
    expect(asked).toEqual([])
  })

  it('R-quote-6: whose look-up found the budget of calls spent is BUDGET_EXCEEDED, with when to come back', async () => {
    const { answer } = asking({ state: 'BUDGET_EXCEEDED', retryAfterMs: 1500 }, PENDING)
    const failure = (await answer) as QuoteError
    expect(failure).toBeInstanceOf(QuoteError)
    expect(failure).toMatchObject({ code: 'BUDGET_EXCEEDED', detail: 'RPC_CALLS', retryAfterS: 2 })
  })

  it('R-limit-4: beyond the day is BUDGET_EXCEEDED, and nothing is paid', async () => {
    const { answer, asked } = asking(null, PENDING, false)
    expect(await answer).toMatchObject({ code: 'BUDGET_EXCEEDED', detail: 'ENROLMENTS_PER_DAY' })
    expect(asked).toEqual([])
  })
})
