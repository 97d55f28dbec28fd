/** A token nobody has asked for yet: on its way in, within what its consumer may ask for in a day. */
import { DEFAULT_LIMITS } from '../access/limits.ts'
import type { Principal } from '../access/access.ts'
import type { Address } from '../ops/config.ts'
import type { EnrolmentClaim } from '../store/operator.ts'
import type { Enrolment } from '../worker/chainService.ts'
import { QuoteError } from './apiError.ts'
import type { HttpContext, ServedChain } from './context.ts'
import { budgetSpent, callsSpent, inTime, serviceOf, unavailable } from './onDemand.ts'

const DAY_MS = 86_400_000
/** Enrolments of the day before fall out of the count one by one; nobody gains by asking every second. */
const DAY_RETRY_MS = 3_600_000
const DEADLINE_MS = 3000

type Underway = Extract<Enrolment, { state: 'PENDING' | 'EVALUATED' }>

/**
 * PENDING or EVALUATED; what cannot be enrolled is thrown as the quote error it is. `pay` is asked once this would start
 * on-demand work, and throws when it cannot.
 */
export async function enrolFor(
  context: HttpContext,
  principal: Principal,
  chain: ServedChain,
  token: Address,
  pay: () => Promise<void>,
): Promise<Underway> {
  const progress = await progressOf(chain, token)
  if (progress !== null) return underway(progress, chain, token)
  const isWithinDay = await context.store.claimEnrolment(claimOf(context, principal, chain, token))
  return startEnrolment(principal, chain, token, isWithinDay, pay)
}

/** How far it is on its way in; null when asking for it would start on-demand work. */
export const progressOf = (chain: ServedChain, token: Address): Promise<Enrolment | null> =>
  inTime(serviceOf(chain).progress(token), DEADLINE_MS)

/** What the store is asked before a look-up may start. */
export function claimOf(
  { clock }: HttpContext,
  { consumer, limits }: Principal,
  { config }: ServedChain,
  tokenAddress: Address,
): EnrolmentClaim {
  const atMs = clock.nowMs()
  const most = (limits ?? DEFAULT_LIMITS).enrolmentsPerDay
  return { chainId: config.chainId, tokenAddress, consumer, atMs, sinceMs: atMs - DAY_MS, most }
}

export async function startEnrolment(
  { consumer, limits }: Principal,
  chain: ServedChain,
  token: Address,
  isWithinDay: boolean,
  pay: () => Promise<void>,
): Promise<Underway> {
  const most = (limits ?? DEFAULT_LIMITS).enrolmentsPerDay
  if (!isWithinDay)
    throw budgetSpent(
      `${most} tokens have been enrolled for ${consumer} in 24 hours; ask again later, or ask the operator for more`,
      'ENROLMENTS_PER_DAY',
      DAY_RETRY_MS,
    )
  const service = serviceOf(chain)
  await pay()
  return underway(await inTime(service.enrol(token, consumer), DEADLINE_MS), chain, token)
}

export function underway(enrolment: Enrolment, { config }: ServedChain, token: Address): Underway {
  switch (enrolment.state) {
    case 'EVALUATED':
    case 'PENDING':
      return enrolment
    case 'TOKEN_UNKNOWN':
      throw new QuoteError('TOKEN_UNKNOWN', `there is no token at ${token} on chain ${config.chainId}`)
    case 'RPC_UNAVAILABLE':
      throw unavailable(null)
    case 'BUDGET_EXCEEDED':
      throw callsSpent(enrolment.retryAfterMs)
  }
}

export const pendingText = (
  chainId: number,
  token: Address,
  { stage, retryAfterMs }: { readonly stage: string; readonly retryAfterMs: number },
): object => ({ chain_id: chainId, token, state: 'PENDING', stage, retry_after_ms: retryAfterMs })
