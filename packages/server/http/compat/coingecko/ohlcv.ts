/**
 * CoinGecko's candles, of pools and of tokens. Both are candles of our own published price of the token: a pool has
 * those of its base token, with the volume traded in that pool. An incomplete volume is null, never 0.
 */
import type { exact } from '@assay/sdk'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PoolRow, TokenRow } from '../../../store/port.ts'
import { RequestError } from '../../plumbing/apiError.ts'
import { charge } from '../../plumbing/charge.ts'
import type { HttpContext } from '../../plumbing/context.ts'
import { pathOf, searchOf } from '../../plumbing/request.ts'
import { Absences } from '../absences.ts'
import { tokenAt } from '../addresses.ts'
import { FIGURE_UNITS } from '../figures.ts'
import { candlesBack } from '../candlesBack.ts'
import { volumesOf } from '../candleVolumes.ts'
import type { Token } from '../prices.ts'
import { toNumber } from '../rounding.ts'
import { poolsOf } from '../tradedPools.ts'
import { PREFIX } from '../vendor.ts'
import { chainIn, type CoinGecko } from './asked.ts'
import { knownPool, sidesOf } from './poolItems.ts'

type Needs = Pick<HttpContext, 'clock' | 'config' | 'settings' | 'store'>

const TIMEFRAMES: Readonly<Record<string, { readonly unitMs: number; readonly steps: readonly number[] }>> = {
  day: { unitMs: 86_400_000, steps: [1] },
  hour: { unitMs: 3_600_000, steps: [1, 4, 12] },
  minute: { unitMs: 60_000, steps: [1, 5, 15] },
}
const [DEFAULT_LIMIT, MAX_LIMIT] = [100, 1000]

export function registerOhlcv(app: FastifyInstance, { context }: CoinGecko): void {
  const base = `${PREFIX.coingecko}/onchain/networks/:network`

  app.get(`${base}/pools/:address/ohlcv/:timeframe`, async (request, reply) => {
    const asked = askedIn(context, request)
    const pool = await knownPool(context, request)
    await charge(context, request, reply, FIGURE_UNITS)
    const sides = sidesOf(pool)
    const wanted = searchOf(request).get('token') ?? 'base'
    const token = sideNamed(wanted, sides)
    const other = token.tokenAddress === sides.base.tokenAddress ? sides.quote : sides.base
    const meta = await metaOf(context, token, other)
    return answerOf(request, await listOf(context, reply, token, [pool], asked), meta)
  })

  app.get(`${base}/tokens/:address/ohlcv/:timeframe`, async (request, reply) => {
    const asked = askedIn(context, request)
    const { config } = chainIn(context, request, 'network')
    const token = tokenAt(config.chainId, pathOf(request, 'address'))
    if (token === null) throw new RequestError(404, 'there is no token with that address')
    await charge(context, request, reply, FIGURE_UNITS)
    const meta = await metaOf(context, token, null)
    const pools = await poolsOf(context, token)
    return answerOf(request, await listOf(context, reply, token, pools, asked), meta)
  })
}

type Asked = { readonly intervalMs: number; readonly beforeMs: number; readonly limit: number }

function askedIn(context: Pick<HttpContext, 'clock'>, request: FastifyRequest): Asked {
  const search = searchOf(request)
  const timeframe = TIMEFRAMES[pathOf(request, 'timeframe')]
  if (timeframe === undefined) throw new RequestError(400, 'timeframe must be day, hour or minute')
  const step = Number(search.get('aggregate') ?? '1')
  if (!timeframe.steps.includes(step))
    throw new RequestError(400, `aggregate must be one of ${timeframe.steps.join(', ')} with this timeframe`)
  if ((search.get('currency') ?? 'usd') !== 'usd')
    throw new RequestError(400, 'currency must be usd; no other currency is served')
  if (search.get('include_empty_intervals') === 'true')
    throw new RequestError(400, 'empty intervals are not filled here; include_empty_intervals must be false')
  const limit = integerIn(search, 'limit', MAX_LIMIT) ?? DEFAULT_LIMIT
  const before = integerIn(search, 'before_timestamp', 9_999_999_999)
  const nowMs = context.clock.nowMs()
  return {
    intervalMs: step * timeframe.unitMs,
    beforeMs: before === null ? nowMs + 1 : Math.min(before * 1000, nowMs + 1),
    limit,
  }
}

function integerIn(search: URLSearchParams, name: string, max: number): number | null {
  const text = search.get(name)
  if (text === null) return null
  const value = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw new RequestError(400, `${name} must be an integer from 1 to ${max}`)
  return value
}

function sideNamed(wanted: string, { base, quote }: { readonly base: Token; readonly quote: Token }): Token {
  if (wanted === 'base') return base
  if (wanted === 'quote') return quote
  const side = [base, quote].find(({ tokenAddress }) => tokenAddress === wanted.toLowerCase())
  if (side === undefined)
    throw new RequestError(400, 'token must be base, quote, or the address of one of them')
  return side
}

/** Newest first: time in seconds, open, high, low, close, volume. */
async function listOf(
  context: Needs,
  reply: FastifyReply,
  token: Token,
  pools: readonly PoolRow[] | null,
  asked: Asked,
): Promise<readonly (readonly (number | null)[])[]> {
  const candles = await candlesBack(context, token, asked)
  const absences = new Absences()
  const volumes = await volumesOf(context, token, pools, candles, asked.intervalMs, absences)
  absences.tell(reply)
  return candles
    .flatMap(({ fromMs, open, high, low, close }, at) => {
      const prices = [open, high, low, close].map((each: exact.Exact) => toNumber(each))
      return prices.includes(null) ? [] : [[fromMs / 1000, ...prices, volumes[at] ?? null]]
    })
    .toReversed()
}

const answerOf = (request: FastifyRequest, ohlcv_list: readonly unknown[], meta: object): object => ({
  data: { id: request.id, type: 'ohlcv_request_response', attributes: { ohlcv_list } },
  meta,
})

async function metaOf(
  { store }: Pick<HttpContext, 'store'>,
  base: Token,
  quote: Token | null,
): Promise<object> {
  const [x = null, y = null] = await store.readTokensOf(quote === null ? [base] : [base, quote])
  const of = ({ tokenAddress }: Token, row: TokenRow | null) => ({
    address: tokenAddress,
    name: row?.name ?? null,
    symbol: row?.symbol ?? null,
    coingecko_coin_id: null,
  })
  return { base: of(base, x), ...(quote === null ? {} : { quote: of(quote, y) }) }
}
