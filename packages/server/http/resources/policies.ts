/**
 * GET /v1/policies/{policy_version}: the parameters a record was computed with, kept for as long as a client may need
 * them.
 */
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../plumbing/apiError.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'

export function registerPolicies(app: FastifyInstance, { store }: Pick<HttpContext, 'store'>): void {
  app.get('/v1/policies/:policy_version', async request => {
    new Params(searchOf(request), [], malformed)
    const version = pathOf(request, 'policy_version')
    if (!/^p[0-9a-f]{32}$/.test(version))
      throw new RequestError(
        400,
        `policy_version is ${JSON.stringify(version.slice(0, 60))}; expected p and 32 hex digits, as records name it`,
      )
    const policy = await store.readPolicy(version)
    if (policy === null)
      throw new RequestError(404, `no record of this service was computed with policy ${version}`)
    return { policy_version: version, policy: JSON.parse(policy) as object }
  })
}
