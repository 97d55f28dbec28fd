/**
 * The endpoints of CoinGecko's API that this service has data for, in its format. Parameters that ask for unavailable
 * data are accepted and ignored; endpoints whose data would have to be invented do not exist.
 */
import type { FastifyInstance } from 'fastify'
import { searchOf } from '../../plumbing/request.ts'
import { DayVolumes } from '../figures.ts'
import { nameOf } from '../networks.ts'
import { PREFIX } from '../vendor.ts'
import { chainIn, type CoinGecko } from './asked.ts'
import { registerOhlcv } from './ohlcv.ts'
import { registerPoolItems } from './poolItems.ts'
import { registerSimple } from './simple.ts'
import { registerTokenItems } from './tokenItems.ts'

export function registerCoinGecko(app: FastifyInstance, context: CoinGecko['context']): void {
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
