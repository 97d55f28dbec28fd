/** CoinGecko's price lists: `/onchain/simple/networks/{network}/token_price/{addresses}` and `/simple/token_price/{platform}`. */
import { exact } from '@assay/sdk'
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../../plumbing/apiError.ts'
import { charge, COMPUTING_UNITS } from '../../plumbing/charge.ts'
import { searchOf } from '../../plumbing/request.ts'
import { Absences } from '../absences.ts'
import { tokensIn } from '../addresses.ts'
import { changeSince, DAY_MS, type Figure } from '../figures.ts'
import { currentPrices, type Price } from '../prices.ts'
import { toDecimals, toDouble, toFixed, toNumber } from '../rounding.ts'
import { PREFIX } from '../vendor.ts'
import { chainIn, type CoinGecko, isAsked, listOf } from './asked.ts'
import { totalReserve } from './tokenItems.ts'

const MAX_PRECISION = 18
/** As in its own answers. */
const PERCENT_PLACES = 3

export function registerSimple(app: FastifyInstance, { context, volumes }: CoinGecko): void {
  app.get(`${PREFIX.coingecko}/simple/supported_vs_currencies`, async () => ['usd'])

  app.get(`${PREFIX.coingecko}/onchain/simple/networks/:network/token_price/*`, async (request, reply) => {
    const { config } = chainIn(context, request, 'network')
    const search = searchOf(request)
    const absences = new Absences()
    const named = tokensIn(listOf(request), config.chainId, absences)
    const isAdding = ['include_24hr_vol', 'include_total_reserve_in_usd'].some(name => isAsked(search, name))
    if (isAdding) await charge(context, request, reply, COMPUTING_UNITS)
    const found = await currentPrices(
      context,
      request,
      reply,
      named.map(({ token }) => token),
    )
    const priced = named.flatMap(({ name, token }, at) => {
      const each = found[at]
      if (each === undefined || each.price === null) absences.note(name, each?.reason ?? 'UNKNOWN')
      return each === undefined || each.price === null ? [] : [{ name, token, price: each.price }]
    })
    const column = async (
      param: string,
      key: string,
      textOf: (each: (typeof priced)[number]) => Promise<{ readonly text: string } | string>,
    ): Promise<object> => {
      if (!isAsked(search, param)) return {}
      const entries: (readonly [string, string])[] = []
      for (const each of priced) {
        const value = await textOf(each)
        if (typeof value === 'string') absences.note(`${each.name}.${key}`, value)
        else entries.push([each.name, value.text])
      }
      return { [key]: Object.fromEntries(entries) }
    }
    const attributes = {
      token_prices: Object.fromEntries(priced.map(({ name, price }) => [name, exact.format(price.value)])),
      ...(await column(
        'include_24hr_price_change',
        'h24_price_change_percentage',
        async ({ token, price }) => {
          const change = await changeSince(context, token, price, DAY_MS)
          return typeof change === 'string' ? change : { text: toFixed(change, PERCENT_PLACES) }
        },
      )),
      ...(await column('include_24hr_vol', 'h24_volume_usd', async ({ token }) =>
        textOf(await volumes.ofToken(token)),
      )),
      ...(await column('include_total_reserve_in_usd', 'total_reserve_in_usd', async ({ token }) =>
        textOf(await totalReserve(context, token)),
      )),
      // Supplies are not read, so a market value would have to be invented.
      ...(await column('include_market_cap', 'market_cap_usd', async () => 'SUPPLY_UNKNOWN')),
    }
    absences.tell(reply)
    return { data: { id: request.id, type: 'simple_token_price', attributes } }
  })

  app.get(`${PREFIX.coingecko}/simple/token_price/:platform`, async (request, reply) => {
    const { config } = chainIn(context, request, 'platform')
    const search = searchOf(request)
    const currencies = (search.get('vs_currencies') ?? '').toLowerCase().split(',')
    if (!currencies.includes('usd'))
      throw new RequestError(400, 'vs_currencies must include usd; no other currency is served')
    const round = roundingIn(search.get('precision'))
    const absences = new Absences()
    const named = tokensIn(search.get('contract_addresses') ?? '', config.chainId, absences)
    for (const currency of new Set(currencies)) if (currency !== 'usd') absences.note(currency, 'CURRENCY')
    if (isAsked(search, 'include_24hr_vol')) await charge(context, request, reply, COMPUTING_UNITS)
    const found = await currentPrices(
      context,
      request,
      reply,
      named.map(({ token }) => token),
    )
    const answer: Record<string, object> = {}
    for (const [at, { name, token }] of named.entries()) {
      const each = found[at]
      const usd = each === undefined || each.price === null ? null : round(each.price)
      if (each === undefined || each.price === null || usd === null) {
        absences.note(name, each === undefined || each.price !== null ? 'TOO_SMALL' : each.reason)
        continue
      }
      const { price } = each
      const fields: Record<string, number> = { usd }
      const add = (key: string, value: number | string | null) => {
        if (typeof value === 'number') fields[key] = value
        else absences.note(`${name}.${key}`, value ?? 'TOO_LARGE')
      }
      if (isAsked(search, 'include_market_cap')) add('usd_market_cap', 'SUPPLY_UNKNOWN')
      if (isAsked(search, 'include_24hr_vol')) add('usd_24h_vol', numberIn(await volumes.ofToken(token)))
      if (isAsked(search, 'include_24hr_change')) {
        const change = await changeSince(context, token, price, DAY_MS)
        add('usd_24h_change', typeof change === 'string' ? change : toDouble(change))
      }
      if (isAsked(search, 'include_last_updated_at'))
        add('last_updated_at', Math.floor(price.evaluatedAtMs / 1000))
      answer[name] = fields
    }
    absences.tell(reply)
    return answer
  })
}

export const textOf = (figure: Figure): { readonly text: string } | string =>
  typeof figure === 'string' ? figure : { text: exact.format(figure) }

/** A day without trades has a known volume of 0. */
function numberIn(figure: Figure): number | string {
  if (typeof figure === 'string') return figure
  const double = toDouble(figure)
  return Number.isFinite(double) ? double : 'TOO_LARGE'
}

function roundingIn(precision: string | null): (price: Price) => number | null {
  if (precision === null || precision === 'full') return ({ value }) => toNumber(value)
  const places = /^\d{1,2}$/.test(precision) ? Number(precision) : MAX_PRECISION + 1
  if (places > MAX_PRECISION)
    throw new RequestError(
      400,
      `precision is ${JSON.stringify(precision.slice(0, 40))}; expected full, or 0 to 18`,
    )
  return ({ value }) => toDecimals(value, places)
}
