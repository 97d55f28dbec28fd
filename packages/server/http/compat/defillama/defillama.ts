/**
 * The endpoints of DefiLlama's coins API that this service has data for, in its format. A coin without a price is
 * absent from `coins`. `confidence` is our score divided by ten.
 */
import type { FastifyInstance } from 'fastify'
import { charge } from '../../plumbing/charge.ts'
import type { HttpContext } from '../../plumbing/context.ts'
import { pathOf, searchOf } from '../../plumbing/request.ts'
import { Absences } from '../absences.ts'
import { firstPrice, NO_HISTORY } from '../pastPrices.ts'
import { currentPrices, type Price } from '../prices.ts'
import { toNumber } from '../rounding.ts'
import { PREFIX } from '../vendor.ts'
import { answerOf, coinText, MOMENTS_OF_UNIT, pointText, rowsOf, symbolOf } from './answer.ts'
import { batchIn } from './batch.ts'
import { registerBlocks } from './blocks.ts'
import { registerCharts } from './charts.ts'
import { coinsIn, coinsOf } from './coins.ts'
import { priceNear } from './near.ts'
import { durationIn, momentIn } from './span.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'config' | 'feeds' | 'limit' | 'quotes' | 'store'>

const BASE = PREFIX.defillama

export function registerDefiLlama(app: FastifyInstance, context: Needs): void {
  app.get(`${BASE}/prices/current/*`, async (request, reply) => {
    const widthMs = durationIn(searchOf(request), 'searchWidth')
    const absences = new Absences()
    const coins = coinsIn(context, pathOf(request, '*'), absences)
    const nowMs = context.clock.nowMs()
    const found = await currentPrices(
      context,
      request,
      reply,
      coins.map(({ token }) => token),
    )
    const answer = answerOf(coins, absences, at => {
      const each = found[at]
      if (each === undefined || each.price === null) return each?.reason ?? 'UNKNOWN'
      if (widthMs !== null && nowMs - each.price.evaluatedAtMs > widthMs) return 'SEARCH_WIDTH'
      return coinText(each.price, each.row)
    })
    absences.tell(reply)
    return answer
  })

  app.get(`${BASE}/prices/historical/:timestamp/*`, async (request, reply) => {
    const atMs = momentIn(pathOf(request, 'timestamp'), 'timestamp') as number
    const widthMs = durationIn(searchOf(request), 'searchWidth')
    const absences = new Absences()
    const coins = coinsIn(context, pathOf(request, '*'), absences)
    await charge(context, request, reply, Math.floor(coins.length / MOMENTS_OF_UNIT))
    const rows = await rowsOf(context, coins)
    const prices: (Price | string)[] = []
    for (const { token } of coins) prices.push(await priceNear(context, token, atMs, widthMs))
    const answer = answerOf(coins, absences, at => {
      const price = prices[at] ?? NO_HISTORY
      return typeof price === 'string' ? price : coinText(price, rows[at] ?? null)
    })
    absences.tell(reply)
    return answer
  })

  app.get(`${BASE}/batchHistorical`, async (request, reply) => {
    const search = searchOf(request)
    const wanted = batchIn(search.get('coins'))
    const widthMs = durationIn(search, 'searchWidth')
    const absences = new Absences()
    const coins = coinsOf(context, [...wanted.keys()], absences)
    const moments = [...wanted.values()].reduce((sum, each) => sum + each.length, 0)
    await charge(context, request, reply, Math.floor(moments / MOMENTS_OF_UNIT))
    const rows = await rowsOf(context, coins)
    const answer: Record<string, object> = Object.create(null) as Record<string, object>
    for (const [at, { name, token }] of coins.entries()) {
      const prices: object[] = []
      for (const atMs of wanted.get(name) ?? []) {
        const price = await priceNear(context, token, atMs, widthMs)
        const number = typeof price === 'string' ? null : toNumber(price.value)
        if (typeof price === 'string') absences.note(`${name}.${atMs / 1000}`, price)
        else if (number !== null) prices.push(pointText(price, number))
      }
      if (prices.length > 0) answer[name] = { ...symbolOf(rows[at] ?? null), prices }
    }
    absences.tell(reply)
    return { coins: answer }
  })

  app.get(`${BASE}/prices/first/*`, async (request, reply) => {
    const absences = new Absences()
    const coins = coinsIn(context, pathOf(request, '*'), absences)
    await charge(context, request, reply, Math.floor(coins.length / MOMENTS_OF_UNIT))
    const rows = await rowsOf(context, coins)
    const prices: (Price | null)[] = []
    for (const { token } of coins) prices.push(await firstPrice(context, token, 0, context.clock.nowMs() + 1))
    const answer = answerOf(coins, absences, at => {
      const price = prices[at] ?? null
      const number = price === null ? null : toNumber(price.value)
      if (price === null || number === null) return NO_HISTORY
      const { timestamp } = pointText(price, number)
      return { ...symbolOf(rows[at] ?? null), price: number, timestamp }
    })
    absences.tell(reply)
    return answer
  })

  registerCharts(app, context)
  registerBlocks(app, context)
}
