/** The chain must be running before an operator command can reach it: a change is never deferred silently. */
import type { ChainService } from '../../worker/chainService.ts'
import { RequestError } from '../plumbing/apiError.ts'
import type { ServedChain } from '../plumbing/context.ts'

export function running(chain: ServedChain): ChainService {
  const service = chain.service()
  if (service === null)
    throw new RequestError(503, `chain ${chain.config.chainId} is not running right now; try again`)
  return service
}
