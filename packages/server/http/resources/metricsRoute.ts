/** The metrics page that Prometheus scrapes. */
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../plumbing/apiError.ts'
import type { HttpContext } from '../plumbing/context.ts'

type Needs = Pick<HttpContext, 'addresses' | 'chains' | 'clock' | 'feeds' | 'metrics' | 'roster' | 'store'>

/** GET /metrics, for the operator's own addresses. */
export function registerMetrics(app: FastifyInstance, context: Needs): void {
  app.get('/metrics', async (request, reply) => {
    if (!context.addresses.isAllowed(request.raw)) throw new Refusal(403)
    return reply.header('content-type', context.metrics.contentType).send(await context.metrics.text(context))
  })
}
