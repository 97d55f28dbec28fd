/** GET /v1/admin/audit: every change an operator made, newest first. */
import type { FastifyInstance } from 'fastify'
import { charge, unitsOfRows } from '../plumbing/charge.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { openPage, sealPage } from '../plumbing/pageCursor.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'

type Needs = Pick<HttpContext, 'limit' | 'pageSecret' | 'store'>

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
const QUERY = 'audit'

export function registerAudit(app: FastifyInstance, context: Needs): void {
  app.get('/v1/admin/audit', async (request, reply) => {
    const params = new Params(searchOf(request), ['limit', 'cursor'], malformed)
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    await charge(context, request, reply, unitsOfRows(limit))
    const cursor = params.text('cursor')
    const before = cursor === null ? null : Number(openPage(context.pageSecret, QUERY, cursor)[0])
    const rows = await context.store.readAudit(before, limit)
    const last = rows.length < limit ? undefined : rows.at(-1)
    return {
      entries: rows.map(({ atMs, actor, action, subject, detail }) => ({
        at_ms: atMs,
        actor,
        action,
        subject,
        detail,
      })),
      next_cursor: last === undefined ? null : sealPage(context.pageSecret, QUERY, [last.id]),
    }
  })
}
