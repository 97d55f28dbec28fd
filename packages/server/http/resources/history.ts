/** GET /v1/history/token: what we published about a token, at a moment, over a range, or as candles. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HistoryPoint } from '../../store/history.ts'
import { RequestError } from '../plumbing/apiError.ts'
import { CandleMaker, INTERVALS_MS, type Interval, isInterval, startOf } from '../../exports/candles.ts'
import { charge, unitsOfRows } from '../plumbing/charge.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { openPage, sealPage } from '../plumbing/pageCursor.ts'
import { addressIn, integerIn, Params } from '../plumbing/params.ts'
import { asCommitted, present } from '../views/stateAsShown.ts'
import { gapsText } from '../views/rows.ts'
import { isStanding, markedStates } from '../views/withdrawn.ts'
import { standingPoints } from '../../store/standing.ts'
import { candleText, storedCandles } from './storedCandles.ts'
import { malformed, pathOf, searchOf } from '../plumbing/request.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'limit' | 'pageSecret' | 'store'>

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
const MAX = Number.MAX_SAFE_INTEGER
/** Length of a range without a start. */
const DEFAULT_SPAN_MS = 86_400_000
/** Points per read; other requests run between two reads. */
const POINTS = 1000
/** A page of candles ends with the bucket in which this many points were read: long buckets make short pages. */
const MAX_POINTS = 20_000

const MOMENTS = ['at_ms', 'at_block', 'at_sequence'] as const
const RANGES = ['from_ms', 'to_ms', 'interval', 'include', 'limit', 'cursor'] as const

type Subject = { readonly chainId: number; readonly tokenAddress: string }
type Place = Pick<HistoryPoint, 'atMs' | 'sequence'>

export function registerHistory(app: FastifyInstance, context: Needs): void {
  app.get('/v1/history/token/:chain_id/:token_address', async (request, reply) => {
    const params = new Params(searchOf(request), [...MOMENTS, ...RANGES], malformed)
    const subject = await knownToken(context, request)
    const gaps = await gapsText(context.store, subject.chainId)
    const [moment, ...others] = MOMENTS.filter(name => params.text(name) !== null)
    if (moment !== undefined) {
      const beside = [...others, ...RANGES.filter(name => params.text(name) !== null)]
      if (beside.length > 0)
        throw new RequestError(400, `${moment} must be given alone; it was given with ${beside.join(', ')}`)
      const answer = await atMoment(context, subject, moment, params.integer(moment, 0, MAX) as number)
      return { ...withFeed(context, subject, answer), ...gaps }
    }
    const limit = params.integer('limit', 1, MAX_LIMIT) ?? DEFAULT_LIMIT
    await charge(context, request, reply, unitsOfRows(limit))
    const interval = intervalIn(params)
    const isAll = includesWithdrawn(params, interval)
    const cursor = params.text('cursor')
    const range = rangeIn(context, params)
    const query = `history ${subject.chainId} ${subject.tokenAddress} ${interval ?? ''} ${isAll ? 'withdrawn ' : ''}${params.text('from_ms') ?? ''} ${params.text('to_ms') ?? ''}`
    const place = cursor === null ? null : openPage(context.pageSecret, query, cursor)
    const from = place === null ? null : { atMs: Number(place[0]), sequence: Number(place[1]) }
    // Later pages keep the bounds of the first: a range without an end stops at the time of its first request.
    const toMs = place === null ? range.toMs : Number(place[2])
    const fromMs = place === null ? range.fromMs : Number(place[3])
    const seal = (next: Place) =>
      sealPage(context.pageSecret, query, [next.atMs, next.sequence, toMs, fromMs])
    const wanted = { ...subject, fromMs, toMs, after: from, limit }
    const answer = await (interval === null
      ? prices(context, wanted, isAll, seal)
      : candles(context, wanted, interval, seal))
    return { ...withFeed(context, subject, answer), ...gaps }
  })
}

/** Published states stay unchanged; the present state of the feed is added beside them. */
const withFeed = (
  { feeds, clock }: Pick<HttpContext, 'clock' | 'feeds'>,
  { chainId }: Subject,
  answer: object,
): object => ({
  ...answer,
  feed: feeds.feed(chainId, clock.nowMs()),
})

type Wanted = Parameters<HttpContext['store']['readTokenHistory']>[0]

/** A page without its withdrawn records is shorter than its limit. */
async function prices(
  { store }: Pick<HttpContext, 'store'>,
  wanted: Wanted,
  isAll: boolean,
  seal: (next: Place) => string,
): Promise<object> {
  const rows = await store.readTokenHistory(wanted)
  const last = rows.length < wanted.limit ? undefined : rows.at(-1)
  const states = await markedStates(store, wanted.chainId, rows)
  return {
    prices: isAll ? states : states.filter(isStanding),
    next_cursor: last === undefined ? null : seal(last),
  }
}

/** Whole buckets: the range is widened to include the buckets of both ends. */
async function candles(
  context: Pick<HttpContext, 'store'>,
  { limit, ...wanted }: Wanted,
  interval: Interval,
  seal: (next: Place) => string,
): Promise<object> {
  const intervalMs = INTERVALS_MS[interval]
  const fromMs = startOf(wanted.fromMs, intervalMs)
  const toMs = Math.min(startOf(wanted.toMs + intervalMs - 1, intervalMs), MAX)
  const begun = wanted.after === null ? fromMs : Math.max(fromMs, startOf(wanted.after.atMs + 1, intervalMs))
  const stored = await storedCandles(context.store, { ...wanted, intervalMs, fromMs: begun, toMs, limit })
  if (stored !== null)
    return {
      candles: stored.candles.map(row => candleText(row, intervalMs)),
      next_cursor: stored.nextMs === null ? null : seal({ atMs: stored.nextMs - 1, sequence: MAX }),
    }
  const maker = new CandleMaker(intervalMs)
  let after: Place | null = wanted.after
  for (let read = 0; ; ) {
    const page: readonly HistoryPoint[] = await context.store.readTokenPoints({
      ...wanted,
      fromMs,
      toMs,
      after,
      limit: POINTS,
    })
    for (const point of await standingPoints(context.store, wanted, page)) {
      maker.take(point)
      const isFull = maker.made.length >= limit || (read >= MAX_POINTS && maker.made.length > 0)
      // A bucket that is still open belongs to the next page, which starts just before it.
      if (isFull) {
        const nextMs = maker.openFromMs ?? startOf(point.atMs, intervalMs)
        return { candles: maker.made, next_cursor: seal({ atMs: nextMs - 1, sequence: MAX }) }
      }
      read += 1
    }
    if (page.length < POINTS) {
      maker.end()
      return { candles: maker.made, next_cursor: null }
    }
    after = page.at(-1) ?? null
    await nextTurn()
  }
}

async function atMoment(
  { store }: Pick<HttpContext, 'store'>,
  { chainId, tokenAddress }: Subject,
  moment: (typeof MOMENTS)[number],
  value: number,
): Promise<object> {
  const asked =
    moment === 'at_ms' ? { ms: value } : moment === 'at_block' ? { block: value } : { sequence: value }
  const row = await store.readTokenAt(chainId, tokenAddress, asked)
  if (row === null) return { prices: [], next_cursor: null }
  const [state = {}] = await markedStates(store, chainId, [row])
  // As a reader saw it at that time: an expired price counts as none.
  return { prices: [moment === 'at_ms' ? present(state, asCommitted(value)) : state], next_cursor: null }
}

function intervalIn(params: Params): Interval | null {
  const text = params.text('interval')
  if (text === null || isInterval(text)) return text
  throw new RequestError(
    400,
    `interval is ${JSON.stringify(text.slice(0, 40))}; expected one of ${Object.keys(INTERVALS_MS).join(', ')}`,
  )
}

function includesWithdrawn(params: Params, interval: Interval | null): boolean {
  const text = params.text('include')
  if (text === null) return false
  if (text !== 'withdrawn')
    throw new RequestError(400, `include is ${JSON.stringify(text.slice(0, 40))}; expected withdrawn`)
  if (interval !== null)
    throw new RequestError(400, 'include applies to prices; candles never contain withdrawn ones')
  return true
}

function rangeIn(
  { clock }: Pick<HttpContext, 'clock'>,
  params: Params,
): { readonly fromMs: number; readonly toMs: number } {
  const toMs = params.integer('to_ms', 1, MAX) ?? clock.nowMs() + 1
  const fromMs = params.integer('from_ms', 0, MAX) ?? Math.max(0, toMs - DEFAULT_SPAN_MS)
  if (fromMs >= toMs)
    throw new RequestError(400, `from_ms is ${fromMs}; expected it before to_ms, which is ${toMs}`)
  return { fromMs, toMs }
}

async function knownToken(
  context: Pick<HttpContext, 'chains' | 'store'>,
  request: FastifyRequest,
): Promise<Subject> {
  const chainId = integerIn('chain_id', pathOf(request, 'chain_id'), 0, MAX, malformed)
  const tokenAddress = addressIn('token_address', pathOf(request, 'token_address'), malformed)
  servedChain(context, chainId)
  if ((await context.store.readToken(chainId, tokenAddress)) === null)
    throw new RequestError(
      404,
      `token ${tokenAddress} is not known on chain ${chainId}; GET /v1/quote/token enrols it`,
    )
  return { chainId, tokenAddress }
}
