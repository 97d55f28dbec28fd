import { describe, expect, it } from 'vitest'
import type { Principal } from '../../access/access.ts'
import { systemClock } from '../../ops/clock.ts'
import type { Address } from '../../ops/hex.ts'
import type { Enrolment } from '../../worker/chainService.ts'
import { QuoteError, Refusal } from '../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../plumbing/context.ts'
import { enrolFor } from './enrol.ts'

const TOKEN: Address = `0x${'11'.repeat(20)}`
const principal = { consumer: 'someone', limits: null } as Principal

type Means = {
  readonly isWithinDay?: boolean
  readonly claims?: Promise<readonly boolean[]>
  readonly hasUnits?: boolean
}

/** A chain with this result for every token, now and when asked to enrol it; what was done for it, in order. */
function asking(progress: Enrolment | null, enrolment: Enrolment, means: Means = {}) {
  const { isWithinDay = true, claims = Promise.resolve([isWithinDay]), hasUnits = true } = means
  const done: string[] = []
  const service = {
    progress: async () => progress,
    enrol: async (token: string, consumer: string) => {
      done.push(`enrol ${token} for ${consumer}`)
      return enrolment
    },
  }
  const claimEnrolments = () => {
    done.push('claim')
    return claims
  }
  const context = { store: { claimEnrolments }, clock: systemClock } as unknown as HttpContext
  const chain = { config: { chainId: 1 }, service: () => service } as unknown as ServedChain
  const fee = {
    pay: async () => {
      if (!hasUnits) throw new Refusal(429, 1000)
      done.push('pay')
    },
    giveBack: (lookUps: number) => {
      done.push(`give back ${lookUps}`)
    },
  }
  const answer = enrolFor(context, principal, chain, TOKEN, fee).catch((failure: unknown) => failure)
  return { done, answer }
}

const PENDING = { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: 1000 } as const

describe('an unknown token', () => {
  it('R-quote-6: is charged before its look-up starts, and the look-up counts for its consumer', async () => {
    const { answer, done } = asking(null, PENDING)
    expect(await answer).toEqual(PENDING)
    expect(done).toEqual(['pay', 'claim', `enrol ${TOKEN} for someone`])
  })

  it('R-quote-6: is not charged again while its enrolment is in progress', async () => {
    const { answer, done } = asking(PENDING, PENDING)
    expect(await answer).toEqual(PENDING)
    expect(done).toEqual([])
  })

  it('R-quote-6: whose look-up found the call budget spent is BUDGET_EXCEEDED, with when to retry', async () => {
    const { answer } = asking({ state: 'BUDGET_EXCEEDED', retryAfterMs: 1500 }, PENDING)
    const failure = (await answer) as QuoteError
    expect(failure).toBeInstanceOf(QuoteError)
    expect(failure).toMatchObject({ code: 'BUDGET_EXCEEDED', detail: 'RPC_CALLS', retryAfterS: 2 })
  })

  it('R-limit-4: uses none of the day when too few units are left', async () => {
    const { answer, done } = asking(null, PENDING, { hasUnits: false })
    expect(await answer).toMatchObject({ status: 429 })
    expect(done).toEqual([])
  })

  it('R-limit-4: beyond the day is BUDGET_EXCEEDED, and costs no units', async () => {
    const { answer, done } = asking(null, PENDING, { isWithinDay: false })
    expect(await answer).toMatchObject({ code: 'BUDGET_EXCEEDED', detail: 'ENROLMENTS_PER_DAY' })
    expect(done).toEqual(['pay', 'claim', 'give back 1'])
  })

  it('costs no units when the store cannot be asked about the day', async () => {
    const { answer, done } = asking(null, PENDING, { claims: Promise.reject(new Error('store away')) })
    expect(await answer).toEqual(new Error('store away'))
    expect(done).toEqual(['pay', 'claim', 'give back 1'])
  })
})
