/** Reads what a request in CoinGecko's format asks for, for all its endpoints. */
import type { FastifyRequest } from 'fastify'
import { RequestError } from '../../plumbing/apiError.ts'
import type { HttpContext, ServedChain } from '../../plumbing/context.ts'
import { pathOf } from '../../plumbing/request.ts'
import type { DayVolumes, Needs } from '../figures.ts'
import { chainNamed, type Naming, servedNames } from '../networks.ts'

export type CoinGecko = { readonly context: Needs; readonly volumes: DayVolumes }

/** The chain named in the path. */
export function chainIn(
  context: Pick<HttpContext, 'chains'>,
  request: FastifyRequest,
  naming: Naming,
): ServedChain {
  const name = pathOf(request, naming)
  const chain = chainNamed(context, naming, name)
  if (chain === null)
    throw new RequestError(
      404,
      `${naming} ${JSON.stringify(name.slice(0, 40))} is not served; served are ${servedNames(context, naming)}`,
    )
  return chain
}

/** The list at the end of a path. */
export const listOf = (request: FastifyRequest): string => pathOf(request, '*')

export const isAsked = (search: URLSearchParams, name: string): boolean => search.get(name) === 'true'
