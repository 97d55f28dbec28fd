/** /v1/admin/retention: how much of the log is kept. A change takes effect at the next pruning, every ten minutes. */
import type { FastifyInstance } from 'fastify'
import { type Retention as WireRetention, RetentionRequest } from '@assay/sdk/wire'
import { bodyOf } from '../plumbing/body.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import type { Retention } from '../settings.ts'
import { auditChange } from './audited.ts'

type Needs = Pick<HttpContext, 'clock' | 'settings' | 'store'>

export function registerRetention(app: FastifyInstance, context: Needs): void {
  const { settings } = context
  app.get('/v1/admin/retention', async request => {
    new Params(searchOf(request), [], malformed)
    return wireOf(settings.retention)
  })

  app.put('/v1/admin/retention', async request => {
    new Params(searchOf(request), [], malformed)
    const {
      hours,
      records,
      history_days: historyDays = settings.retention.historyDays,
    } = bodyOf(request, RetentionRequest)
    const before = wireOf(settings.retention)
    await settings.setRetention({ hours, records, ...(historyDays === undefined ? {} : { historyDays }) })
    const after = wireOf(settings.retention)
    await auditChange(context, request, 'retention.set', 'log', { before, after })
    return after
  })
}

const wireOf = ({ hours, records, historyDays }: Retention): WireRetention =>
  (historyDays ?? null) === null
    ? { hours, records }
    : { hours, records, history_days: historyDays as number }
