/** GET /v1/tokens and GET /v1/search. */
import type { FastifyInstance } from 'fastify'
import type { TokenRow } from '../store/port.ts'
import { charge, unitsOfRows } from './charge.ts'
import { type HttpContext, servedChain } from './context.ts'
import { openPage, sealPage } from './pageCursor.ts'
import { addressIn, integerIn, Params } from './params.ts'
import { malformed, searchOf } from './request.ts'
import { readingOf } from './presented.ts'
import { poolText, tokenText } from './rows.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

export function registerTokens(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/tokens', async (request, reply) => {
    const params = new Params(searchOf(request), ['chain_id', 'limit', 'cursor'], malformed)
    const chainId = integerIn('chain_id', params.required('chain_id'), 0, Number.MAX_SAFE_INTEGER, malformed)
    servedChain(context, chainId)
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    await charge(context, request, reply, unitsOfRows(limit))
    const query = `tokens ${chainId}`
    const cursor = params.text('cursor')
    const after = cursor === null ? null : String(openPage(context.pageSecret, query, cursor)[0])
    const rows = await context.store.readTokens({ chainId, after, limit })
    const reading = readingOf(context, chainId)
    const last = rows.length < limit ? undefined : (rows.at(-1) as TokenRow)
    return {
      tokens: rows.map(row => tokenText(row, reading)),
      next_cursor: last === undefined ? null : sealPage(context.pageSecret, query, [last.tokenAddress]),
    }
  })

  app.get('/v1/search', async request => {
    const params = new Params(searchOf(request), ['address'], malformed)
    const address = addressIn('address', params.required('address'), malformed)
    const { tokens, pools } = await context.store.search(address)
    const chainIds = new Set([...tokens, ...pools].map(row => row.chainId))
    return {
      chains: [...chainIds]
        .sort((a, b) => a - b)
        .map(chain_id => ({ chain_id, name: context.chains.get(chain_id)?.config.name ?? null })),
      tokens: tokens.map(row => tokenText(row, readingOf(context, row.chainId))),
      pools: pools.map(row => poolText(row, readingOf(context, row.chainId))),
    }
  })
}
