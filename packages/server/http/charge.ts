/** What a request costs its consumer, and how it is told: quota and rest with every answer, 429 when it is spent. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from './apiError.ts'
import type { HttpContext } from './context.ts'

/** Throws the refusal when there is not that much left. */
export function charge(
  { limit }: HttpContext,
  { principal }: FastifyRequest,
  reply: FastifyReply,
  units: number,
): void {
  if (principal === null) throw new Refusal(401)
  const quota = principal.limits ?? limit.quota
  const { allowed, remaining, waitMs } = limit.take(principal.consumer, units, quota)
  void reply.header('ratelimit-policy', `"default";q=${quota.units};w=${quota.windowMs / 1000}`)
  void reply.header('ratelimit', `"default";r=${Math.max(0, remaining)};t=${Math.ceil(waitMs / 1000)}`)
  if (!allowed) throw new Refusal(429, waitMs)
}

/** Long lists cost a unit more per thousand rows asked for. */
export const unitsOfRows = (rows: number): number => Math.floor(rows / 1000)
