/** /v1/admin/policy: reads the policy in force, replaces it, or previews the effect of another one. */
import type { FastifyInstance } from 'fastify'
import { PolicyRequest } from '@assay/sdk/wire'
import { RequestError } from '../plumbing/apiError.ts'
import { bodyOf } from '../plumbing/body.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { Params } from '../plumbing/params.ts'
import { asCommitted, presentText } from '../views/stateAsShown.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import type { PolicyInForce } from '../settings.ts'
import { auditChange } from './audited.ts'
import { running } from './running.ts'

type Needs = Pick<HttpContext, 'adoptPolicy' | 'chains' | 'clock' | 'settings' | 'store'>

export function registerPolicy(app: FastifyInstance, context: Needs): void {
  const { settings } = context
  app.get('/v1/admin/policy', async request => {
    new Params(searchOf(request), [], malformed)
    return policyText(settings.policy)
  })

  app.put('/v1/admin/policy', async request => {
    new Params(searchOf(request), [], malformed)
    const overrides = bodyOf(request, PolicyRequest)
    const before = settings.policy.version
    const policy = await checked(() => settings.setPolicy(overrides))
    await context.adoptPolicy(policy.policy)
    await auditChange(context, request, 'policy.set', policy.version, { before, overrides })
    return policyText(policy)
  })

  app.post('/v1/admin/policy/dry-run', async request => {
    new Params(searchOf(request), [], malformed)
    const overrides = bodyOf(request, PolicyRequest)
    const { version, policy } = await checked(async () => settings.policyWith(overrides))
    const changes: object[] = []
    for (const chain of context.chains.values()) {
      const { chainId } = chain.config
      const trial = await running(chain).tryPolicy(policy)
      const rows = await context.store.readTokensOf(
        trial.map(({ token }) => ({ chainId, tokenAddress: token })),
      )
      for (const [at, { token, state }] of trial.entries())
        changes.push({
          chain_id: chainId,
          token_address: token,
          before: presentText(rows[at]?.price ?? null, asCommitted(context.clock.nowMs())),
          after: unsequenced(state),
        })
    }
    return { policy_version: version, changes }
  })
}

/** Removes the sequence: a state that was never published has no position on the stream. */
function unsequenced(text: string): object {
  const { as_of, ...state } = JSON.parse(text) as { as_of: object }
  return { ...state, as_of: { stream_sequence: 0, ...as_of } }
}

const policyText = ({ version, policy }: PolicyInForce): object => ({ policy_version: version, policy })

/** Turns a faulty policy into an answer that lists all of its faults. */
async function checked<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (failure) {
    if (failure instanceof Error && failure.name === 'PolicyError')
      throw new RequestError(400, failure.message.replaceAll('\n', ' '))
    throw failure
  }
}
