/** DefiLlama's `/chart/{coins}` and `/percentage/{coins}`. */
import type { FastifyInstance } from 'fastify'
import { RequestError } from '../../plumbing/apiError.ts'
import { charge } from '../../plumbing/charge.ts'
import type { HttpContext } from '../../plumbing/context.ts'
import { pathOf, searchOf } from '../../plumbing/request.ts'
import { Absences } from '../absences.ts'
import { hasPrice, priceAt } from '../pastPrices.ts'
import { percentBetween, toDouble, toNumber } from '../rounding.ts'
import { PREFIX } from '../vendor.ts'
import { coinsIn } from './coins.ts'
import { answerOf, confidenceOf, MOMENTS_OF_UNIT, rowsOf, symbolOf } from './answer.ts'
import { durationIn, momentIn } from './span.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'config' | 'limit' | 'store'>

const DAY_MS = 86_400_000
/** Over all coins of an answer together. */
const MOST_POINTS = 500

type Point = { readonly confidence: number; readonly timestamp: number; readonly price: number }

export function registerCharts(app: FastifyInstance, context: Needs): void {
  app.get(`${PREFIX.defillama}/chart/*`, async (request, reply) => {
    const search = searchOf(request)
    const absences = new Absences()
    const coins = coinsIn(context, pathOf(request, '*'), absences)
    const periodMs = durationIn(search, 'period') ?? DAY_MS
    const span = spanIn(search.get('span'))
    if (coins.length * span > MOST_POINTS)
      throw new RequestError(
        400,
        `${coins.length} coins of ${span} points are too many; expected at most ${MOST_POINTS} in all`,
      )
    await charge(context, request, reply, Math.floor((coins.length * span) / MOMENTS_OF_UNIT))
    const moments = momentsIn(context, search, span, periodMs)
    const widthMs = durationIn(search, 'searchWidth')
    const rows = await rowsOf(context, coins)
    const charts: (readonly Point[])[] = []
    for (const { token } of coins) {
      const points: Point[] = []
      for (const atMs of moments) {
        const price = await priceAt(context, token, atMs)
        if (!hasPrice(price) || (widthMs !== null && atMs - price.evaluatedAtMs > widthMs)) continue
        const number = toNumber(price.value)
        if (number !== null)
          points.push({ confidence: confidenceOf(price), timestamp: Math.floor(atMs / 1000), price: number })
      }
      charts.push(points)
    }
    const answer = answerOf(coins, absences, at => {
      const points = charts[at] ?? []
      const row = rows[at] ?? null
      if (points.length === 0) return 'NO_HISTORY'
      const decimals = row?.decimals == null ? {} : { decimals: row.decimals }
      return {
        ...symbolOf(row),
        ...decimals,
        confidence: Math.min(...points.map(({ confidence }) => confidence)),
        prices: points.map(({ timestamp, price }) => ({ timestamp, price })),
      }
    })
    absences.tell(reply)
    return answer
  })

  app.get(`${PREFIX.defillama}/percentage/*`, async (request, reply) => {
    const search = searchOf(request)
    const absences = new Absences()
    const coins = coinsIn(context, pathOf(request, '*'), absences)
    await charge(context, request, reply, Math.floor(coins.length / MOMENTS_OF_UNIT))
    const periodMs = durationIn(search, 'period') ?? DAY_MS
    const nowMs = context.clock.nowMs()
    const atMs = momentIn(search.get('timestamp'), 'timestamp') ?? nowMs
    const otherMs = search.get('lookForward') === 'true' ? atMs + periodMs : atMs - periodMs
    const changes: (number | string)[] = []
    for (const { token } of coins) {
      const [first, last] = [
        await priceAt(context, token, Math.max(0, Math.min(atMs, otherMs))),
        otherMs > nowMs ? 'FUTURE' : await priceAt(context, token, Math.max(atMs, otherMs)),
      ]
      if (!hasPrice(first)) changes.push(first)
      else if (!hasPrice(last)) changes.push(last)
      else changes.push(toDouble(percentBetween(first.value, last.value)))
    }
    const answer = answerOf(coins, absences, at => changes[at] ?? 'NO_HISTORY')
    absences.tell(reply)
    return answer
  })
}

function spanIn(text: string | null): number {
  const span = text === null ? 1 : /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  if (span < 1 || span > MOST_POINTS)
    throw new RequestError(400, `span must be a number of points from 1 to ${MOST_POINTS}`)
  return span
}

/** From `start` forwards, or up to `end`, by default now. Future points are omitted. */
function momentsIn(
  { clock }: Pick<HttpContext, 'clock'>,
  search: URLSearchParams,
  span: number,
  periodMs: number,
): readonly number[] {
  const nowMs = clock.nowMs()
  const [start, end] = [momentIn(search.get('start'), 'start'), momentIn(search.get('end'), 'end')]
  if (start !== null && end !== null)
    throw new RequestError(400, 'start and end cannot be combined; give one of them')
  const firstMs = start ?? (end ?? nowMs) - (span - 1) * periodMs
  return Array.from({ length: span }, (_, at) => firstMs + at * periodMs).filter(ms => ms >= 0 && ms <= nowMs)
}
