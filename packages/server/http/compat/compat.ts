/**
 * Answers in the shapes of other services, each below its own prefix and each to be switched off. They are readers
 * like all others: the same keys and quotas, the same prices, the same word on what is not known.
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
