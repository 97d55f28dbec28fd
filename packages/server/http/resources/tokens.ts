/** GET /v1/tokens and GET /v1/search. */
import type { FastifyInstance } from 'fastify'
import type { TokenRow } from '../../store/port.ts'
import type { ChainConfig } from '../../config/config.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { chainText } from './chains.ts'
import { charge, unitsOfRows } from '../plumbing/charge.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { openPage, sealPage } from '../plumbing/pageCursor.ts'
import { integerIn, Params } from '../plumbing/params.ts'
import { malformed, searchOf } from '../plumbing/request.ts'
import { readingOf } from '../views/stateAsShown.ts'
import { momentsOf, type PoolMoment } from '../views/poolReading.ts'
import { poolText, tokenText } from '../views/rows.ts'
import { columnsIn, withColumns } from '../views/tokenColumns.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'limit' | 'pageSecret' | 'store'>

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
/** Limits of a search by text. */
const [LONGEST_TEXT, MOST_FOUND] = [64, 50]

export function registerTokens(app: FastifyInstance, context: Needs): void {
  app.get('/v1/tokens', async (request, reply) => {
    const params = new Params(searchOf(request), ['chain_id', 'limit', 'cursor', 'include'], malformed)
    const chainId = integerIn('chain_id', params.required('chain_id'), 0, Number.MAX_SAFE_INTEGER, malformed)
    servedChain(context, chainId)
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    const columns = columnsIn(params.text('include'))
    await charge(context, request, reply, unitsOfRows(limit))
    const query = `tokens ${chainId}`
    const cursor = params.text('cursor')
    const after = cursor === null ? null : String(openPage(context.pageSecret, query, cursor)[0])
    const rows = await context.store.readTokens({ chainId, after, limit })
    const reading = readingOf(context, chainId)
    const last = rows.length < limit ? undefined : (rows.at(-1) as TokenRow)
    return {
      tokens: await withColumns(
        context,
        chainId,
        rows.map(row => tokenText(row, reading)),
        columns,
      ),
      next_cursor: last === undefined ? null : sealPage(context.pageSecret, query, [last.tokenAddress]),
    }
  })

  app.get('/v1/search', async request => {
    const params = new Params(searchOf(request), ['address', 'q'], malformed)
    const [address, text] = [params.named('address'), params.text('q')]
    if ((address === null) === (text === null))
      throw new RequestError(400, 'search needs either address or q')
    if (text !== null) return searchText(context, text)
    return searchAddress(context, address as string)
  })
}

async function searchAddress(context: Needs, address: string): Promise<object> {
  const { tokens, pools } = await context.store.search(address)
  const moments = await momentsOf(context, pools)
  const found = new Set([...tokens, ...pools].map(row => row.chainId))
  return {
    chains: chainsText(context, config => found.has(config.chainId) || isPartOf(config, address)),
    tokens: tokens.map(row => tokenText(row, readingOf(context, row.chainId))),
    pools: pools.map((row, at) => poolText(row, readingOf(context, row.chainId), moments[at] as PoolMoment)),
  }
}

/** Searches symbols and names, which anyone may choose: a symbol does not identify a token. */
async function searchText(context: Needs, text: string): Promise<object> {
  const wanted = text.trim()
  if (wanted === '' || wanted.length > LONGEST_TEXT)
    throw new RequestError(400, `q is ${text.length} characters long; expected 1 to ${LONGEST_TEXT}`)
  const rows = await context.store.searchTokens(wanted, MOST_FOUND)
  const tokens = rows.filter(({ chainId }) => context.chains.has(chainId))
  const found = new Set(tokens.map(({ chainId }) => chainId))
  return {
    chains: chainsText(context, ({ chainId }) => found.has(chainId)),
    tokens: tokens.map(row => tokenText(row, readingOf(context, row.chainId))),
    pools: [],
  }
}

function chainsText(context: Needs, isFound: (config: ChainConfig) => boolean): object[] {
  const nowMs = context.clock.nowMs()
  return [...context.chains.values()]
    .filter(({ config }) => isFound(config))
    .map(({ config }) => chainText(config, context.feeds.health(config.chainId, nowMs)))
    .sort((a, b) => a.chain_id - b.chain_id)
}

const isPartOf = ({ wrappedNative, deployments }: ChainConfig, address: string): boolean =>
  wrappedNative === address || deployments.some(({ factoryAddress }) => factoryAddress === address)
