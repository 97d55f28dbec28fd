/** A token nobody has asked for yet: on its way in, within what its consumer may ask for in a day. */
import { DEFAULT_LIMITS } from '../access/limits.ts'
import type { Principal } from '../access/access.ts'
import type { Address } from '../ops/config.ts'
import type { Enrolment } from '../worker/chainService.ts'
import { QuoteError } from './apiError.ts'
import type { HttpContext, ServedChain } from './context.ts'
import { budgetSpent, callsSpent, inTime, serviceOf, unavailable } from './onDemand.ts'

const DAY_MS = 86_400_000
/** Enrolments of the day before fall out of the count one by one; nobody gains by asking every second. */
const DAY_RETRY_MS = 3_600_000
const DEADLINE_MS = 3000

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
): Promise<Extract<Enrolment, { state: 'PENDING' | 'EVALUATED' }>> {
  const { chainId } = chain.config
  const service = serviceOf(chain)
  const atMs = context.clock.nowMs()
  const most = (principal.limits ?? DEFAULT_LIMITS).enrolmentsPerDay
  const isWithin = await context.store.claimEnrolment({
    chainId,
    tokenAddress: token,
    consumer: principal.consumer,
    atMs,
    sinceMs: atMs - DAY_MS,
    most,
  })
  if (!isWithin)
    throw budgetSpent(
      `${most} tokens have been enrolled for ${principal.consumer} in 24 hours; ask again later, or ask the operator for more`,
      'ENROLMENTS_PER_DAY',
      DAY_RETRY_MS,
    )
  const progress = await inTime(service.progress(token), DEADLINE_MS)
  if (progress === null) await pay()
  const enrolment = progress ?? (await inTime(service.enrol(token, principal.consumer), DEADLINE_MS))
  switch (enrolment.state) {
    case 'EVALUATED':
    case 'PENDING':
      return enrolment
    case 'TOKEN_UNKNOWN':
      throw new QuoteError('TOKEN_UNKNOWN', `there is no token at ${token} on chain ${chainId}`)
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
