/** /v1/admin/consumers/{consumer}: the limits that its keys and sessions share. */
import type { FastifyInstance } from 'fastify'
import { LimitsRequest } from '@assay/sdk/wire'
import { DEFAULT_LIMITS, type Limits, limitsIn } from '../../access/limits.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'
import { auditChange } from './audited.ts'

type Needs = Pick<HttpContext, 'access' | 'clock' | 'store'>

export function registerConsumers(app: FastifyInstance, context: Needs): void {
  const { store, access } = context
  app.get('/v1/admin/consumers/:consumer', async request => {
    new Params(searchOf(request), [], malformed)
    const consumer = pathOf(request, 'consumer')
    const row = await store.readConsumer(consumer)
    if (row === null) throw noConsumer(consumer)
    return consumerText(consumer, row.limits === null ? DEFAULT_LIMITS : limitsIn(row.limits))
  })

  app.put('/v1/admin/consumers/:consumer', async request => {
    new Params(searchOf(request), [], malformed)
    const consumer = pathOf(request, 'consumer')
    const body = bodyOf(request, LimitsRequest)
    const limits: Limits = {
      units: body.units,
      windowMs: body.window_ms,
      burst: body.burst,
      streamConnections: body.stream_connections,
      enrolmentsPerDay: body.enrolments_per_day,
    }
    if (!(await store.writeLimits(consumer, JSON.stringify(limits)))) throw noConsumer(consumer)
    access.forget(consumer)
    await auditChange(context, request, 'consumer.limits', consumer, body)
    return consumerText(consumer, limits)
  })
}

const noConsumer = (consumer: string): RequestError =>
  new RequestError(
    404,
    `there is no consumer ${JSON.stringify(consumer.slice(0, 64))}; a consumer is created with its first key`,
  )

const consumerText = (consumer: string, limits: Limits): object => ({
  consumer,
  limits: {
    units: limits.units,
    window_ms: limits.windowMs,
    burst: limits.burst,
    stream_connections: limits.streamConnections,
    enrolments_per_day: limits.enrolmentsPerDay,
  },
})
