/**
 * A data feed for TradingView's charts (its UDF protocol): candles of our own published prices, with the volume of the
 * token's pools in dollars where it is completely known. A symbol is a token of a chain, named `chain_id:address`,
 * because symbols chosen by tokens do not identify them.
 */
import type { FastifyInstance } from 'fastify'
import { exact } from '@assay/sdk'
import { RequestError } from '../../plumbing/apiError.ts'
import { charge } from '../../plumbing/charge.ts'
import type { HttpContext } from '../../plumbing/context.ts'
import { searchOf } from '../../plumbing/request.ts'
import type { TokenRow } from '../../../store/port.ts'
import { Absences } from '../absences.ts'
import { tokenAt } from '../addresses.ts'
import { FIGURE_UNITS } from '../figures.ts'
import { candlesBack } from '../candlesBack.ts'
import { volumesOf } from '../candleVolumes.ts'
import { knownPrices, type Found, type Token } from '../prices.ts'
import { toNumber } from '../rounding.ts'
import { poolsOf } from '../tradedPools.ts'
import { PREFIX } from '../vendor.ts'

type Needs = Pick<
  HttpContext,
  'chains' | 'clock' | 'config' | 'feeds' | 'limit' | 'quotes' | 'settings' | 'store'
>

const MINUTE_MS = 60_000
/** Resolutions by their chart names, in milliseconds. */
const RESOLUTIONS: Readonly<Record<string, number>> = {
  '1': MINUTE_MS,
  '5': 5 * MINUTE_MS,
  '15': 15 * MINUTE_MS,
  '60': 60 * MINUTE_MS,
  '240': 240 * MINUTE_MS,
  '1D': 1440 * MINUTE_MS,
}
const NAMES = Object.keys(RESOLUTIONS)
const [MOST_BARS, MOST_FOUND, LONGEST_QUERY] = [2000, 30, 64]
/** Significant digits of a price on a chart. */
const SHOWN_DIGITS = 6
const MOST_DECIMALS = 16

export function registerUdf(app: FastifyInstance, context: Needs): void {
  app.get(`${PREFIX.udf}/config`, async () => ({
    supported_resolutions: NAMES,
    supports_search: true,
    supports_group_request: false,
    supports_marks: false,
    supports_timescale_marks: false,
    supports_time: true,
    exchanges: [
      { value: '', name: 'All chains', desc: '' },
      ...[...context.chains.values()].map(({ config }) => ({
        value: `${config.chainId}`,
        name: config.name,
        desc: config.name,
      })),
    ],
    symbols_types: [{ name: 'Tokens', value: 'crypto' }],
  }))

  app.get(`${PREFIX.udf}/time`, async (_, reply) =>
    reply.type('text/plain; charset=utf-8').send(`${Math.floor(context.clock.nowMs() / 1000)}`),
  )

  app.get(`${PREFIX.udf}/symbols`, async request => {
    const token = await tokenNamed(context, searchOf(request).get('symbol'))
    const [found] = (await knownPrices(context, [token])) as [Found]
    if (found.row === null) throw new RequestError(404, 'unknown_symbol')
    return symbolText(context, token, found)
  })

  app.get(`${PREFIX.udf}/search`, async request => {
    const search = searchOf(request)
    const query = (search.get('query') ?? '').trim()
    const exchange = search.get('exchange') ?? ''
    const limit = Math.min(MOST_FOUND, Number(/^\d{1,3}$/.exec(search.get('limit') ?? '')?.[0] ?? MOST_FOUND))
    if (query === '' || query.length > LONGEST_QUERY) return []
    const address = tokenAt(0, query)?.tokenAddress
    const rows =
      address === undefined
        ? await context.store.searchTokens(query, MOST_FOUND)
        : (await context.store.search(address)).tokens
    return rows
      .filter(({ chainId }) => context.chains.has(chainId) && (exchange === '' || `${chainId}` === exchange))
      .slice(0, limit)
      .map(row => foundText(context, row))
  })

  app.get(`${PREFIX.udf}/history`, async (request, reply) => {
    const search = searchOf(request)
    const token = await tokenNamed(context, search.get('symbol'))
    const intervalMs = RESOLUTIONS[search.get('resolution') ?? '']
    if (intervalMs === undefined) throw new RequestError(400, `resolution must be one of ${NAMES.join(', ')}`)
    const toMs = secondsIn(search, 'to') * 1000
    const countback = search.get('countback')
    const fromMs = countback === null ? secondsIn(search, 'from') * 1000 : 0
    const limit =
      countback === null ? MOST_BARS : Math.min(MOST_BARS, Math.max(1, secondsIn(search, 'countback')))
    await charge(context, request, reply, FIGURE_UNITS)
    const candles = await candlesBack(context, token, { intervalMs, beforeMs: toMs, sinceMs: fromMs, limit })
    const absences = new Absences()
    const pools = await poolsOf(context, token)
    const volumes = await volumesOf(context, token, pools, candles, intervalMs, absences)
    absences.tell(reply)
    const bars = candles.flatMap(({ fromMs: at, open, high, low, close }, index) => {
      const [o, h, l, c] = [open, high, low, close].map(toNumber)
      if (o == null || h == null || l == null || c == null) return []
      return [{ t: at / 1000, o, h, l, c, v: volumes[index] ?? null }]
    })
    if (bars.length === 0) return { s: 'no_data', ...(await nextTime(context, token, intervalMs, toMs)) }
    return {
      s: 'ok',
      t: bars.map(({ t }) => t),
      o: bars.map(({ o }) => o),
      h: bars.map(({ h }) => h),
      l: bars.map(({ l }) => l),
      c: bars.map(({ c }) => c),
      // Charts show no volume where the member is missing, and none for a bar where it is null.
      ...(bars.some(({ v }) => v !== null) ? { v: bars.map(({ v }) => v) } : {}),
    }
  })
}

/** The newest bar before an empty range, so that a chart knows where to continue. */
async function nextTime(context: Needs, token: Token, intervalMs: number, beforeMs: number): Promise<object> {
  const [last] = await candlesBack(context, token, { intervalMs, beforeMs, limit: 1 })
  return last === undefined ? {} : { nextTime: last.fromMs / 1000 }
}

async function tokenNamed({ chains }: Pick<HttpContext, 'chains'>, symbol: string | null): Promise<Token> {
  const [, chainId = '', address = ''] = /^(\d{1,15}):(0x[0-9a-fA-F]{40})$/.exec(symbol ?? '') ?? []
  const token = tokenAt(Number(chainId), address)
  if (token === null || !chains.has(token.chainId)) throw new RequestError(404, 'unknown_symbol')
  return token
}

function secondsIn(search: URLSearchParams, name: string): number {
  const text = search.get(name) ?? ''
  if (!/^\d{1,10}$/.test(text)) throw new RequestError(400, `${name} must be a whole number`)
  return Number(text)
}

const tickerOf = ({ chainId, tokenAddress }: Token): string => `${chainId}:${tokenAddress}`

function symbolText({ chains }: Pick<HttpContext, 'chains'>, token: Token, { row, price }: Found): object {
  const ticker = tickerOf(token)
  const chain = chains.get(token.chainId)?.config.name ?? ''
  return {
    name: ticker,
    ticker,
    description: `${row?.symbol ?? token.tokenAddress} in US dollars`,
    type: 'crypto',
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: chain,
    listed_exchange: chain,
    format: 'price',
    minmov: 1,
    pricescale: 10 ** (price === null ? SHOWN_DIGITS : decimalsFor(price.value)),
    has_intraday: true,
    has_daily: true,
    supported_resolutions: NAMES,
    intraday_multipliers: NAMES.filter(each => !each.endsWith('D')),
    has_empty_bars: false,
    visible_plots_set: 'ohlcv',
    volume_precision: 2,
    currency_code: 'USD',
  }
}

const foundText = ({ chains }: Pick<HttpContext, 'chains'>, row: TokenRow): object => {
  const ticker = `${row.chainId}:${row.tokenAddress}`
  return {
    symbol: row.symbol ?? ticker,
    full_name: ticker,
    ticker,
    description: row.name ?? '',
    exchange: chains.get(row.chainId)?.config.name ?? '',
    type: 'crypto',
  }
}

/** Enough decimals for the price to keep its digits. */
function decimalsFor(value: exact.Exact): number {
  const [, fraction = ''] = exact.format(value, SHOWN_DIGITS).split('.')
  return Math.min(MOST_DECIMALS, Math.max(2, fraction.length))
}
