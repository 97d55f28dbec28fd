/** Answers of a chain's worker: asked for only while it runs, and waited for only as long as the caller said. */
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

/** What asks cannot be paid for now; `detail` names the budget. */
export const budgetSpent = (message: string, detail: string, retryAfterMs: number): QuoteError =>
  new QuoteError('BUDGET_EXCEEDED', message, detail, retryAfterMs)

/** The chain's own, which all consumers share. */
export const callsSpent = (retryAfterMs: number): QuoteError =>
  budgetSpent('the call budget for on-demand work is exhausted; try again later', 'RPC_CALLS', retryAfterMs)

export const tooLate = (deadlineMs: number): QuoteError =>
  new QuoteError('DEADLINE_EXCEEDED', `no answer within ${deadlineMs} ms; raise deadline_ms or try again`)

/** What is not there by the deadline is not waited for; it goes on and may be asked for again. */
export async function inTime<Result>(work: Promise<Result>, deadlineMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooLate(deadlineMs)), deadlineMs)
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
