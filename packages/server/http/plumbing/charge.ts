/** Charges a request to its consumer: quota and remainder with every response, 429 when it is exhausted. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Quota, Verdict } from '../../access/rateLimit.ts'
import { Refusal } from './apiError.ts'
import type { HttpContext } from './context.ts'
import { quotaHeaders } from './quotaHeaders.ts'

type Needs = Pick<HttpContext, 'limit'>

/** Surcharge for on-demand computation: ten units in all. */
export const COMPUTING_UNITS = 9
/** Cost of each batch entry that needs a look-up. */
export const ENTRY_UNITS = 10

/** Throws the refusal when not enough units are left. */
export async function charge(
  context: Needs,
  request: FastifyRequest,
  reply: FastifyReply,
  units: number,
): Promise<void> {
  const verdict = await spend(context, request, reply, units)
  if (!verdict.allowed) throw new Refusal(429, verdict.waitMs)
}

/** Spends the units if enough are left. */
export async function spend(
  { limit }: Needs,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  units: number,
): Promise<Verdict> {
  if (principal === null) throw new Refusal(401)
  const quota = principal.limits ?? limit.quota
  const verdict = await limit.spend(principal.consumer, units, quota)
  stateQuota(reply, quota, verdict)
  return verdict
}

/** Returns units spent on something that this request is then refused. */
export function giveBack(
  { limit }: Needs,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  units: number,
): void {
  if (principal === null) throw new Refusal(401)
  const quota = principal.limits ?? limit.quota
  limit.giveBack(principal.consumer, units, quota)
  stateQuota(reply, quota, limit.take(principal.consumer, 0, quota))
}

function stateQuota(reply: FastifyReply, quota: Quota, verdict: Verdict): void {
  const [policyName, policy, restName, rest] = quotaHeaders.of(quota, verdict)
  void reply.header(policyName, policy).header(restName, rest)
}

/** Long lists cost one more unit per thousand rows requested. */
export const unitsOfRows = (rows: number): number => Math.floor(rows / 1000)
