/**
 * Answers in the formats of other services, each under its own prefix, and each can be switched off. Their clients are
 * ordinary readers: the same keys and quotas, the same prices, the same treatment of unknown values.
 */
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../plumbing/context.ts'
import { registerCoinGecko } from './coingecko/coingecko.ts'
import { registerDefiLlama } from './defillama/defillama.ts'
import { registerUdf } from './udf/udf.ts'

export function registerCompat(app: FastifyInstance, context: HttpContext): void {
  const { compat } = context.config
  if (compat.coingecko) registerCoinGecko(app, context)
  if (compat.defillama) registerDefiLlama(app, context)
  if (compat.udf) registerUdf(app, context)
}
