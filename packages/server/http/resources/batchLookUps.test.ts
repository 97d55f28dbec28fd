import { expect, it } from 'vitest'
import type { Principal } from '../../access/access.ts'
import { RateLimit } from '../../access/rateLimit.ts'
import type { Address } from '../../ops/hex.ts'
import type { EnrolmentClaim } from '../../store/operator.ts'
import { lookUpAll } from './batchLookUps.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { budgetSpent } from './chainCall.ts'

const COST = 10
const CHAIN_ID = 1
const tokenAt = (at: number): Address => `0x${`${at + 10}`.repeat(20)}`
const TOKENS = Array.from({ length: 6 }, (_, at) => tokenAt(at))
const clock = { nowMs: () => 0, monotonicMs: () => 0 }

/** Looks these up for a consumer with so many units left, and so many enrolments left of the day. */
async function lookUp(tokens: readonly Address[], { units, day }: { units: number; day: number }) {
  const limit = new RateLimit(clock, { units: 1000, windowMs: 1000, burst: units })
  const claimed: string[] = []
  const enrolled: string[] = []
  const service = {
    progress: async () => null,
    enrol: async (token: string) => {
      enrolled.push(token)
      return { state: 'PENDING', stage: 'DISCOVERY', retryAfterMs: 1000 }
    },
  }
  const claimEnrolments = async (claims: readonly EnrolmentClaim[]) =>
    claims.map(({ tokenAddress }) => {
      claimed.push(tokenAddress)
      return claimed.length <= day
    })
  const chains = new Map([[CHAIN_ID, { config: { chainId: CHAIN_ID }, service: () => service }]])
  const outcomes = await lookUpAll(
    { store: { claimEnrolments }, clock, chains } as unknown as HttpContext,
    { consumer: 'someone', limits: null } as Principal,
    tokens.map(tokenAddress => ({ chainId: CHAIN_ID, tokenAddress })),
    {
      pay: async () => {
        const { allowed, waitMs } = limit.take('someone', COST)
        if (!allowed) throw budgetSpent('too few units are left', 'QUOTA', waitMs)
      },
      giveBack: lookUps => limit.giveBack('someone', lookUps * COST),
    },
  )
  const said = outcomes.map(outcome => ('quote' in outcome ? 'PENDING' : outcome.error.detail))
  return { said, claimed, enrolled, unitsLeft: limit.take('someone', 0).remaining }
}

it('R-quote-6: an entry that the quota cannot pay uses none of the day', async () => {
  const { said, claimed, unitsLeft } = await lookUp(TOKENS, { units: 25, day: 100 })
  expect(said).toEqual(['PENDING', 'PENDING', 'QUOTA', 'QUOTA', 'QUOTA', 'QUOTA'])
  expect(claimed).toEqual(TOKENS.slice(0, 2))
  expect(unitsLeft).toBe(5)
})

it('R-limit-4: an entry beyond the day costs no units', async () => {
  const { said, enrolled, unitsLeft } = await lookUp(TOKENS, { units: 100, day: 2 })
  expect(said).toEqual(['PENDING', 'PENDING', ...Array<string>(4).fill('ENROLMENTS_PER_DAY')])
  expect(enrolled).toEqual(TOKENS.slice(0, 2))
  expect(unitsLeft).toBe(80)
})

it('both refusals in one batch: each entry has the one it met first', async () => {
  const { said, unitsLeft } = await lookUp(TOKENS, { units: 40, day: 3 })
  expect(said).toEqual(['PENDING', 'PENDING', 'PENDING', 'ENROLMENTS_PER_DAY', 'QUOTA', 'QUOTA'])
  expect(unitsLeft).toBe(10)
})

it('a token that the batch names twice is charged once, and answered twice', async () => {
  const twice = [tokenAt(0), tokenAt(1), tokenAt(0)]
  const { said, claimed, unitsLeft } = await lookUp(twice, { units: 100, day: 100 })
  expect(said).toEqual(['PENDING', 'PENDING', 'PENDING'])
  expect(claimed).toEqual([tokenAt(0), tokenAt(1)])
  expect(unitsLeft).toBe(80)
})
