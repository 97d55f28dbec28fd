/** /healthz: the process responds. /readyz: this node can serve; 503 with the reasons otherwise. */
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../plumbing/context.ts'

export function registerProbes(app: FastifyInstance, context: Pick<HttpContext, 'isReady'>): void {
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_, reply) => {
    const { ready, reasons } = context.isReady()
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'starting', reasons })
  })
}
