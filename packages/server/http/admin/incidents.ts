/**
 * /v1/admin/incidents: the incidents a local world can cause, and those it has caused. A service on real chains has
 * none.
 */
import { IncidentRequest, type CausedIncident } from '@assay/sdk/wire'
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { auditChange } from './audited.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'store' | 'world'>

/** Number of past incidents in the list. */
const TOLD = 20

export function registerIncidents(app: FastifyInstance, context: Needs): void {
  const { world, clock } = context
  const incidents = (world?.incidents ?? []).map(({ name, about, hasEnd }) => ({
    name,
    about,
    has_end: hasEnd,
  }))
  const caused: CausedIncident[] = []

  app.get('/v1/admin/incidents', async request => {
    new Params(searchOf(request), [], malformed)
    return { incidents, caused }
  })

  app.post('/v1/admin/incidents', async (request, reply) => {
    new Params(searchOf(request), [], malformed)
    const wish = bodyOf(request, IncidentRequest)
    const { name, chain_id: chainId, token, depth, end = false } = wish
    if (world === null)
      throw new RequestError(
        404,
        'this service does not run on a local world, so there are no incidents here',
      )
    const incident = incidents.find(each => each.name === name)
    if (incident === undefined)
      throw new RequestError(
        400,
        `name is ${JSON.stringify(name.slice(0, 40))}; expected one of ${incidents.map(each => each.name).join(', ')}`,
      )
    if (end && !incident.has_end) throw new RequestError(400, `${name} has no duration and cannot be ended`)
    servedChain(context, chainId)
    if (caused.some(each => each.chain_id === chainId && each.status === 'RUNNING'))
      throw new RequestError(
        409,
        `an incident is in progress on chain ${chainId}; wait until it is in a block`,
      )
    const begun: CausedIncident = {
      name,
      chain_id: chainId,
      end,
      at_ms: clock.nowMs(),
      status: 'RUNNING',
      what: null,
      token: null,
      pools: [],
      block: null,
    }
    // Added before any await, so that a second request sees it.
    caused.unshift(begun)
    caused.splice(TOLD)
    const become = (outcome: Partial<CausedIncident>) => {
      const at = caused.indexOf(begun)
      if (at !== -1) caused[at] = { ...begun, ...outcome }
    }
    const failed = (failure: unknown) => become({ status: 'FAILED', what: messageOf(failure) })
    try {
      await auditChange(context, request, end ? 'incident.end' : 'incident.cause', `${chainId}`, wish)
    } catch (failure) {
      failed(failure)
      throw failure
    }
    world
      .cause({
        name,
        chainId,
        isEnd: end,
        ...(token === undefined ? {} : { token }),
        ...(depth === undefined ? {} : { depth }),
      })
      .then(account => become({ status: 'DONE', ...account }))
      .catch(failed)
    return reply.code(202).header('retry-after', '1').send(begun)
  })
}

/** Only the first line: the rest of a node's error contains its address and the whole call. */
function messageOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure)
  return text.split('\n', 1)[0] as string
}
