/** Calls to a chain's worker: made only while it runs, and awaited only up to the caller's deadline. */
import { ChainDown, type ChainService } from '../../worker/chainService.ts'
import { QuoteError } from '../plumbing/apiError.ts'
import type { ServedChain } from '../plumbing/context.ts'

export function serviceOf(chain: ServedChain): ChainService {
  const service = chain.service()
  if (service === null)
    throw new QuoteError(
      'RPC_UNAVAILABLE',
      `chain ${chain.config.chainId} is not running right now; try again`,
    )
  return service
}

export const unavailable = (reason: string | null): QuoteError =>
  new QuoteError('RPC_UNAVAILABLE', 'the chain cannot be reached right now; try again', reason)

/** The budget for this work is spent; `detail` names the budget. */
export const budgetSpent = (message: string, detail: string, retryAfterMs: number): QuoteError =>
  new QuoteError('BUDGET_EXCEEDED', message, detail, retryAfterMs)

/** The chain's own call budget, which all consumers share. */
export const callsSpent = (retryAfterMs: number): QuoteError =>
  budgetSpent('the call budget for on-demand work is exhausted; try again later', 'RPC_CALLS', retryAfterMs)

/** The advice for a request whose deadline the caller has set. */
export const RAISE = 'raise deadline_ms or try again'

export const tooLate = (deadlineMs: number, advice = 'try again'): QuoteError =>
  new QuoteError('DEADLINE_EXCEEDED', `no answer within ${deadlineMs} ms; ${advice}`)

/** Stops waiting at the deadline; the work continues and may be requested again. */
export async function inTime<Result>(
  work: Promise<Result>,
  deadlineMs: number,
  advice?: string,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(deadlineMs, advice)), deadlineMs)
  })
  try {
    return await Promise.race([work, late])
  } catch (failure) {
    if (failure instanceof ChainDown) throw unavailable(failure.message)
    throw failure
  } finally {
    clearTimeout(timer)
  }
}
