/** /v1/admin/tokens/{chain_id}/{token_address}: enrol a token permanently, remove it, or confirm changed decimals. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Address } from '../../ops/hex.ts'
import { DecimalsRequest } from '@assay/sdk/wire'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import { type HttpContext, type ServedChain, servedChain } from '../plumbing/context.ts'
import { pendingText } from '../resources/enrol.ts'
import { addressIn, integerIn, Params } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'
import { readingOf } from '../views/stateAsShown.ts'
import { tokenText } from '../views/rows.ts'
import { auditChange } from './audited.ts'
import { running } from './running.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'store'>

export function registerEnrolments(app: FastifyInstance, context: Needs): void {
  app.post('/v1/admin/tokens/:chain_id/:token_address', async (request, reply) => {
    const { chain, token } = subject(context, request)
    const { chainId } = chain.config
    const enrolment = await running(chain).enrol(token)
    if (enrolment.state === 'TOKEN_UNKNOWN')
      throw new RequestError(404, `there is no token at ${token} on chain ${chainId}`)
    if (enrolment.state === 'RPC_UNAVAILABLE' || enrolment.state === 'BUDGET_EXCEEDED')
      throw new RequestError(503, `chain ${chainId} cannot be reached right now; try again`)
    await auditChange(context, request, 'token.enrol', `${chainId}/${token}`, null)
    const row = enrolment.state === 'EVALUATED' ? await context.store.readToken(chainId, token) : null
    if (row !== null) return tokenText(row, readingOf(context, chainId))
    const pending = enrolment.state === 'PENDING' ? enrolment : { stage: 'EVALUATION', retryAfterMs: 1000 }
    void reply.code(202).header('retry-after', Math.max(1, Math.ceil(pending.retryAfterMs / 1000)))
    return pendingText(chainId, token, pending)
  })

  app.delete('/v1/admin/tokens/:chain_id/:token_address', async (request, reply) => {
    const { chain, token } = subject(context, request)
    const { chainId } = chain.config
    if (!(await running(chain).unenrol(token)))
      throw new RequestError(404, `token ${token} is not enrolled on chain ${chainId}`)
    await auditChange(context, request, 'token.unenrol', `${chainId}/${token}`, null)
    return reply.code(204).send()
  })

  app.post('/v1/admin/tokens/:chain_id/:token_address/decimals', async (request, reply) => {
    const { chain, token } = subject(context, request)
    const { decimals } = bodyOf(request, DecimalsRequest)
    const { chainId } = chain.config
    const answer = await running(chain).confirmDecimals(token, decimals)
    if (answer.outcome === 'not_held')
      throw new RequestError(404, `no change of decimals is pending for token ${token} on chain ${chainId}`)
    if (answer.outcome === 'other')
      throw new RequestError(
        409,
        `token ${token} on chain ${chainId} returns decimals ${answer.read ?? 'that cannot be read'}, not ${decimals}`,
      )
    if (answer.outcome === 'rpc_unavailable')
      throw new RequestError(503, `chain ${chainId} cannot be reached right now; try again`)
    await auditChange(context, request, 'token.decimals', `${chainId}/${token}`, { decimals })
    return reply.code(204).send()
  })
}

function subject(
  context: Pick<HttpContext, 'chains'>,
  request: FastifyRequest,
): { readonly chain: ServedChain; readonly token: Address } {
  new Params(searchOf(request), [], malformed)
  const chainId = integerIn('chain_id', pathOf(request, 'chain_id'), 0, Number.MAX_SAFE_INTEGER, malformed)
  const token = addressIn('token_address', pathOf(request, 'token_address'), malformed)
  return { chain: servedChain(context, chainId), token }
}
