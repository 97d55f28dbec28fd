/** Enrols an unknown token, within the consumer's daily limit. */
import { DEFAULT_LIMITS } from '../../access/limits.ts'
import type { Principal } from '../../access/access.ts'
import type { Address } from '../../ops/hex.ts'
import type { EnrolmentClaim } from '../../store/operator.ts'
import type { Enrolment } from '../../worker/chainService.ts'
import { QuoteError } from '../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../plumbing/context.ts'
import { budgetSpent, callsSpent, inTime, serviceOf, unavailable } from './chainCall.ts'

type Needs = Pick<HttpContext, 'clock' | 'store'>

const DAY_MS = 86_400_000
/** Yesterday's enrolments leave the count one by one; retrying every second gains nothing. */
const DAY_RETRY_MS = 3_600_000
const DEADLINE_MS = 3000

type Underway = Extract<Enrolment, { state: 'PENDING' | 'EVALUATED' }>
/** A token whose look-up should start. */
type Wanted = { readonly chain: ServedChain; readonly token: Address }

/** The cost of one look-up to the consumer. */
export type Fee = {
  /** Throws when too few units are left. */
  readonly pay: () => Promise<void>
  /** Returns the units of this many look-ups that were charged and then refused. */
  readonly giveBack: (lookUps: number) => void
}

/** PENDING or EVALUATED; throws the quote error of a token that cannot be enrolled. Only a new look-up is charged. */
export async function enrolFor(
  context: Needs,
  principal: Principal,
  chain: ServedChain,
  token: Address,
  fee: Fee,
): Promise<Underway> {
  const progress = await progressOf(chain, token)
  if (progress !== null) return underway(progress, chain, token)
  const [refusal = null] = await admit(context, principal, [{ chain, token }], fee)
  if (refusal !== null) throw refusal
  return startEnrolment(principal, { chain, token })
}

/** Progress of its enrolment; null when a request for it would start on-demand work. */
export const progressOf = (chain: ServedChain, token: Address): Promise<Enrolment | null> =>
  inTime(serviceOf(chain).progress(token), DEADLINE_MS)

/**
 * For each token, null when its look-up may start, otherwise the reason. Units are spent before the day's enrolments
 * are claimed, because units can be returned; an enrolment that another request has used meanwhile cannot.
 */
export async function admit(
  context: Needs,
  principal: Principal,
  wanted: readonly Wanted[],
  { pay, giveBack }: Fee,
): Promise<readonly (Error | null)[]> {
  const unpaid = await Promise.all(
    wanted.map(() =>
      pay().then(
        () => null,
        (refusal: Error) => refusal,
      ),
    ),
  )
  const claims = wanted.filter((_, at) => unpaid[at] === null).map(each => claimOf(context, principal, each))
  if (claims.length === 0) return unpaid
  let isWithinDay: readonly boolean[] = []
  try {
    isWithinDay = await context.store.claimEnrolments(claims)
  } finally {
    const refused = claims.length - isWithinDay.filter(Boolean).length
    if (refused > 0) giveBack(refused)
  }
  const claimed = isWithinDay.values()
  return unpaid.map(refusal => refusal ?? (claimed.next().value === true ? null : daySpent(principal)))
}

export async function startEnrolment({ consumer }: Principal, { chain, token }: Wanted): Promise<Underway> {
  return underway(await inTime(serviceOf(chain).enrol(token, consumer), DEADLINE_MS), chain, token)
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

function claimOf(
  { clock }: Needs,
  { consumer, limits }: Principal,
  { chain, token }: Wanted,
): EnrolmentClaim {
  const atMs = clock.nowMs()
  const most = (limits ?? DEFAULT_LIMITS).enrolmentsPerDay
  const { chainId } = chain.config
  return { chainId, tokenAddress: token, consumer, atMs, sinceMs: atMs - DAY_MS, most }
}

const daySpent = ({ consumer, limits }: Principal): QuoteError =>
  budgetSpent(
    `${(limits ?? DEFAULT_LIMITS).enrolmentsPerDay} tokens have been enrolled for ${consumer} in 24 hours; try again later, or ask the operator for more`,
    'ENROLMENTS_PER_DAY',
    DAY_RETRY_MS,
  )
