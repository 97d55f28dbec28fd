/** /v1/admin/keys: issue, list, roll, revoke. The key itself appears in one answer and nowhere else. */
import type { FastifyInstance } from 'fastify'
import { KeyRequest } from '@assay/sdk/wire'
import type { KeyRow } from '../../store/port.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'
import { actorOf } from './audited.ts'

export function registerKeys(
  app: FastifyInstance,
  { access, clock }: Pick<HttpContext, 'access' | 'clock'>,
): void {
  app.post('/v1/admin/keys', async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    const { consumer, name, scopes, expires_at_ms } = bodyOf(request, KeyRequest)
    if (expires_at_ms !== undefined && expires_at_ms <= clock.nowMs())
      throw new RequestError(400, `expires_at_ms is ${expires_at_ms}; expected a time in the future`)
    const issued = await access.issue(name, consumer, scopes, expires_at_ms ?? null, actorOf(request))
    return reply.code(201).send({ ...keyText(issued.row), key: issued.key })
  })

  app.get('/v1/admin/keys', async request => {
    new Params(searchOf(request), [], malformed)
    return { keys: (await access.list()).map(keyText) }
  })

  app.post('/v1/admin/keys/:key_id/roll', async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    const keyId = pathOf(request, 'key_id')
    const issued = await access.roll(keyId, actorOf(request))
    if (issued === null) throw noKey(keyId)
    return reply.code(201).send({ ...keyText(issued.row), key: issued.key })
  })

  app.delete('/v1/admin/keys/:key_id', async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    const keyId = pathOf(request, 'key_id')
    if (!(await access.revoke(keyId, actorOf(request)))) throw noKey(keyId)
    return reply.code(204).send()
  })
}

const noKey = (keyId: string): RequestError =>
  new RequestError(
    404,
    `there is no live key ${JSON.stringify(keyId.slice(0, 40))}; GET /v1/admin/keys lists them`,
  )

const keyText = (row: KeyRow): object => ({
  key_id: row.keyId,
  consumer: row.consumer,
  name: row.name,
  scopes: row.scopes,
  created_at_ms: row.createdAtMs,
  expires_at_ms: row.expiresAtMs,
  revoked_at_ms: row.revokedAtMs,
})
