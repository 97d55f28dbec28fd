/**
 * The endpoints of CoinGecko's API that can be answered from what this service knows, in its shapes. Parameters that
 * ask for what is not known here are taken and left unanswered; endpoints that would have to be made up do not exist.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RequestError } from '../../apiError.ts'
import type { HttpContext, ServedChain } from '../../context.ts'
import { pathOf, searchOf } from '../../request.ts'
import { DayVolumes } from '../figures.ts'
import { chainNamed, nameOf, type Naming, servedNames } from '../networks.ts'
import { PREFIX } from '../vendor.ts'
import { registerOhlcv } from './ohlcv.ts'
import { registerPoolItems } from './poolItems.ts'
import { registerSimple } from './simple.ts'
import { registerTokenItems } from './tokenItems.ts'

/** What the endpoints stand on. */
export type CoinGecko = { readonly context: HttpContext; readonly volumes: DayVolumes }

export function registerCoinGecko(app: FastifyInstance, context: HttpContext): void {
  const vendor: CoinGecko = { context, volumes: new DayVolumes(context) }
  app.get(`${PREFIX.coingecko}/ping`, async () => ({ gecko_says: '(V3) To the Moon!' }))
  app.get(`${PREFIX.coingecko}/asset_platforms`, async () =>
    [...context.chains.values()].map(({ config }) => ({
      id: nameOf(config.chainId, 'platform'),
      chain_identifier: config.chainId,
      name: config.name,
      shortname: '',
      native_coin_id: null,
      image: {},
    })),
  )
  app.get(`${PREFIX.coingecko}/onchain/networks`, async request => {
    const page = searchOf(request).get('page') ?? '1'
    return {
      data: (page === '1' ? [...context.chains.values()] : []).map(({ config }) => ({
        id: nameOf(config.chainId, 'network'),
        type: 'network',
        attributes: {
          name: config.name,
          coingecko_asset_platform_id: nameOf(config.chainId, 'platform'),
        },
      })),
    }
  })
  app.get(`${PREFIX.coingecko}/onchain/networks/:network/dexes`, async request => {
    const { config } = chainIn(context, request, 'network')
    return {
      data: config.deployments.map(({ deploymentId }) => ({
        id: deploymentId,
        type: 'dex',
        attributes: { name: deploymentId },
      })),
    }
  })
  registerSimple(app, vendor)
  registerTokenItems(app, vendor)
  registerPoolItems(app, vendor)
  registerOhlcv(app, vendor)
}

/** The chain that a path names. */
export function chainIn(context: HttpContext, request: FastifyRequest, naming: Naming): ServedChain {
  const name = pathOf(request, naming)
  const chain = chainNamed(context, naming, name)
  if (chain === null)
    throw new RequestError(
      404,
      `${naming} ${JSON.stringify(name.slice(0, 40))} is not served; served are ${servedNames(context, naming)}`,
    )
  return chain
}

/** What stands in the place of a list at the end of a path. */
export const listOf = (request: FastifyRequest): string => pathOf(request, '*')

export const isAsked = (search: URLSearchParams, name: string): boolean => search.get(name) === 'true'
