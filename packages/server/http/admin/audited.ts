/** Records an operator's change together with its author. */
import type { FastifyRequest } from 'fastify'
import type { HttpContext } from '../plumbing/context.ts'
import { principalOf } from '../resources/session.ts'

/** The author's name in the audit log. */
export const actorOf = (request: FastifyRequest): string => `key:${principalOf(request).keyId}`

export async function auditChange(
  { store, clock }: Pick<HttpContext, 'clock' | 'store'>,
  request: FastifyRequest,
  action: string,
  subject: string,
  detail: object | null,
): Promise<void> {
  const text = detail === null ? null : JSON.stringify(detail)
  await store.audit({ atMs: clock.nowMs(), actor: actorOf(request), action, subject, detail: text })
}
