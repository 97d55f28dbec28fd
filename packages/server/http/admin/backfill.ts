/** /v1/admin/backfill: scans the past of a chain for pools and their events, and reports the progress. */
import type { FastifyInstance } from 'fastify'
import { BackfillRequest } from '@assay/sdk/wire'
import type { BackfillView } from '../../worker/chainService.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { auditChange } from './audited.ts'

type Needs = Pick<HttpContext, 'backfills' | 'chains' | 'clock' | 'store'>

export function registerBackfill(app: FastifyInstance, context: Needs): void {
  const { backfills } = context
  app.get('/v1/admin/backfill', async request => {
    new Params(searchOf(request), [], malformed)
    return { backfills: (await backfills.list()).map(textOf) }
  })

  app.post('/v1/admin/backfill', async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    const { chain_id: chainId, from_block: from, to_block: to } = bodyOf(request, BackfillRequest)
    servedChain(context, chainId)
    if (from !== undefined && to !== undefined && from > to)
      throw new RequestError(
        400,
        `from_block is ${from} and to_block ${to}; expected from_block up to to_block`,
      )
    await backfills.start(chainId, {
      ...(from === undefined ? {} : { fromBlock: from }),
      ...(to === undefined ? {} : { toBlock: to }),
    })
    await auditChange(context, request, 'backfill.start', `${chainId}`, { from_block: from, to_block: to })
    const begun = (await backfills.list()).find(view => view.chainId === chainId)
    return reply
      .code(202)
      .header('retry-after', '1')
      .send(textOf(begun as BackfillView))
  })
}

const textOf = (view: BackfillView) => ({
  chain_id: view.chainId,
  status: view.status,
  from_block: view.fromBlock,
  to_block: view.toBlock,
  next_block: view.nextBlock,
  events: view.events,
  eta_s: view.etaS === null ? null : Math.ceil(view.etaS),
  error: view.error,
})
