/** Charges a request to its consumer: quota and remainder with every response, 429 when it is exhausted. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { policyText, restText } from '../../access/quotaText.ts'
import type { Verdict } from '../../access/rateLimit.ts'
import { Refusal } from './apiError.ts'
import type { HttpContext } from './context.ts'

/** What on-demand work costs beside the request itself: ten in all. */
export const COMPUTING_UNITS = 9
/** And what it costs for each entry of a batch. */
export const ENTRY_UNITS = 10

/** Throws the refusal when there is not that much left. */
export async function charge(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  units: number,
): Promise<void> {
  const verdict = await spend(context, request, reply, units)
  if (!verdict.allowed) throw new Refusal(429, verdict.waitMs)
}

/** Spent if there is that much left. */
export async function spend(
  { limit }: HttpContext,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  units: number,
): Promise<Verdict> {
  if (principal === null) throw new Refusal(401)
  const quota = principal.limits ?? limit.quota
  const verdict = await limit.spend(principal.consumer, units, quota)
  void reply.header('ratelimit-policy', policyText(quota)).header('ratelimit', restText(verdict))
  return verdict
}

/** Units spent on what this request is refused after all. */
export function giveBack(
  { limit }: HttpContext,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  units: number,
): void {
  if (principal === null) throw new Refusal(401)
  const quota = principal.limits ?? limit.quota
  limit.giveBack(principal.consumer, units, quota)
  void reply.header('ratelimit', restText(limit.take(principal.consumer, 0, quota)))
}

/** Long lists cost a unit more per thousand rows asked for. */
export const unitsOfRows = (rows: number): number => Math.floor(rows / 1000)
