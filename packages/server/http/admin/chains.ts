/** /v1/admin/chains/{chain_id}/pause and /resume: a paused chain retracts its prices but still follows its blocks. */
import type { FastifyInstance } from 'fastify'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { integerIn, Params } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'
import { auditChange } from './audited.ts'
import { running } from './running.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'store'>

export function registerChainSwitches(app: FastifyInstance, context: Needs): void {
  for (const [action, isPaused] of [
    ['pause', true],
    ['resume', false],
  ] as const)
    app.post(`/v1/admin/chains/:chain_id/${action}`, async (request, reply) => {
      new Params(searchOf(request), [], malformed)
      const text = pathOf(request, 'chain_id')
      const chainId = integerIn('chain_id', text, 0, Number.MAX_SAFE_INTEGER, malformed)
      await running(servedChain(context, chainId)).setPaused(isPaused)
      await auditChange(context, request, `chain.${action}`, `${chainId}`, null)
      return reply.code(204).send()
    })
}
