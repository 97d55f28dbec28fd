/** GET /v1/quote/token and GET /v1/quote/pool. */
import { type CompactState, lastPricedIn } from '@assay/sdk/wire'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../../ops/hex.ts'
import type { Narrowing } from '../../worker/chainService.ts'
import { QuoteError } from '../plumbing/apiError.ts'
import { charge, COMPUTING_UNITS, giveBack } from '../plumbing/charge.ts'
import type { HttpContext, ServedChain } from '../plumbing/context.ts'
import { enrolFor, pendingText } from './enrol.ts'
import { callsSpent, inTime, RAISE, serviceOf, tooLate, unavailable } from './chainCall.ts'
import { Params, poolIn } from '../plumbing/params.ts'
import { changeOf } from '../views/priceChange.ts'
import { present, presentPoolQuote, readingOf } from '../views/stateAsShown.ts'
import { isNamedIn, type PresentedQuote } from '../views/quoteCache.ts'
import { compactView, tagOfView, type View, viewIn } from '../views/quoteView.ts'
import { sidesText } from '../views/rows.ts'
import { subject } from '../views/quoteSubject.ts'
import { malformedQuote, searchOf, sendJson } from '../plumbing/request.ts'
import { principalOf } from './session.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'flights' | 'limit' | 'quotes' | 'store'>

const DEFAULT_DEADLINE_MS = 3000
const MAX_AGE_MS = 7 * 86_400_000
const MAX_EXCLUDED = 50

export function registerQuotes(app: FastifyInstance, context: Needs): void {
  app.get('/v1/quote/token/:chain_id/:token_address', async (request, reply) => {
    const params = new Params(
      searchOf(request),
      ['max_age_ms', 'deadline_ms', 'max_hops', 'min_depth_usd', 'exclude_pools', 'view'],
      malformedQuote,
    )
    const { chain, address } = subject(context, request, 'token_address')
    const deadlineMs = params.integer('deadline_ms', 100, 10_000) ?? DEFAULT_DEADLINE_MS
    const maxAgeMs = params.integer('max_age_ms', 0, MAX_AGE_MS)
    const narrowing = narrowingIn(params)
    const view = viewIn(params, message => malformedQuote({ kind: 'params', message }))
    // Read before the quote: if the feed is lost in between, presenting the answer detects it.
    const isFeedGone = readingOf(context, chain.config.chainId).feedGone !== null
    const ready = await context.quotes.read(chain.config.chainId, address, context.clock.nowMs())
    if (ready === null) return enrol(context, chain, address, request, reply, view)
    const isTooOld = maxAgeMs !== null && context.clock.nowMs() - ready.evaluatedAtMs > maxAgeMs
    // Without a feed nothing can be computed that would be valid: the answer is the same whatever was requested.
    if (isFeedGone || (narrowing === null && !isTooOld)) return sendReady(request, reply, ready, view)
    await charge(context, request, reply, COMPUTING_UNITS)
    const service = serviceOf(chain)
    const { consumer } = principalOf(request)
    const answer = await inTime(
      context.flights.run(JSON.stringify([chain.config.chainId, address, narrowing, isTooOld]), () =>
        service.tokenQuote(address, narrowing, isTooOld, consumer),
      ),
      deadlineMs,
      RAISE,
    )
    if (answer.outcome === 'not_enrolled') return enrol(context, chain, address, request, reply, view)
    if (answer.outcome === 'rpc_unavailable') throw unavailable(answer.reason)
    if (answer.outcome === 'budget_exceeded') throw callsSpent(answer.retryAfterMs)
    const computed = present(
      JSON.parse(answer.quote) as object,
      readingOf(context, chain.config.chainId),
    ) as Computed
    if (narrowing !== null && computed.state === 'UNPRICED' && computed.reason !== 'FEED')
      throw new QuoteError('NO_ROUTE', 'no route is left within these limits', computed.reason ?? null)
    const quote = await withPast(context, chain.config.chainId, address, computed)
    return sendJson(reply, JSON.stringify(view === 'full' ? quote : compactView(quote)))
  })

  app.get('/v1/quote/pool/:chain_id/:pool_address', async (request, reply) => {
    const params = new Params(searchOf(request), ['deadline_ms', 'max_age_ms'], malformedQuote)
    const { chain, address } = subject(context, request, 'pool_address')
    const deadlineMs = params.integer('deadline_ms', 100, 10_000) ?? DEFAULT_DEADLINE_MS
    const maxAgeMs = params.integer('max_age_ms', 0, MAX_AGE_MS)
    await charge(context, request, reply, COMPUTING_UNITS)
    const service = serviceOf(chain)
    const { consumer } = principalOf(request)
    const answer = await inTime(
      context.flights.run(`pool ${chain.config.chainId} ${address} ${maxAgeMs}`, () =>
        service.poolQuote(address, deadlineMs, maxAgeMs, consumer),
      ),
      deadlineMs,
      RAISE,
    )
    switch (answer.outcome) {
      case 'quote':
        return withPrices(context, chain.config.chainId, address, answer.quote)
      case 'not_a_pool':
        throw new QuoteError(
          'NOT_A_POOL',
          `${address} is not a pool of a listed factory on chain ${chain.config.chainId}`,
        )
      case 'not_supported':
        throw new QuoteError(
          'NOT_SUPPORTED',
          `${address} is a pool of a factory that is not listed`,
          answer.reason,
        )
      case 'no_route':
        throw new QuoteError('NO_ROUTE', `neither side of ${address} reaches a stable`, answer.reason)
      case 'too_late':
        throw tooLate(deadlineMs, RAISE)
      case 'rpc_unavailable':
        throw unavailable(answer.reason)
      case 'budget_exceeded':
        throw callsSpent(answer.retryAfterMs)
    }
  })
}

/** Adds the stored current prices of a pool's two sides. */
async function withPrices(context: Needs, chainId: number, pool: Address, quote: string): Promise<object> {
  const row = await context.store.readPool(chainId, pool)
  const reading = readingOf(context, chainId)
  const computed = presentPoolQuote(JSON.parse(quote) as { state: object }, reading)
  if (row === null) return computed
  return { ...computed, ...sidesText(row, reading) }
}

/** The last record as it was serialised, or 304 when the client already has this version. */
function sendReady(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, head, ...ready }: PresentedQuote,
  view: View,
): FastifyReply {
  const etag = tagOfView(ready.etag, view)
  // A client may cache it, if it revalidates every time.
  void reply.header('etag', etag).header('cache-control', 'private, no-cache')
  if (isNamedIn(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return sendJson(reply, view === 'full' ? body : JSON.stringify(compactView(head())))
}

type Computed = Parameters<typeof changeOf>[3] & {
  readonly state: string
  readonly reason?: string
  readonly last_priced?: object | null
}

/** Adds the change of a computed price from those we published before or, without one, the last published price. */
async function withPast(
  { store }: Pick<HttpContext, 'store'>,
  chainId: number,
  token: Address,
  quote: Computed,
): Promise<object> {
  if (quote.state !== 'PRICED') {
    if (quote.last_priced !== undefined) return quote
    const row = await store.readToken(chainId, token)
    const before = row?.price ?? null
    const last_priced = before === null ? null : lastPricedIn(JSON.parse(before) as CompactState)
    return { ...quote, last_priced: last_priced ?? null }
  }
  return { ...quote, change: await changeOf(store, chainId, token, quote) }
}

/** 202 while it is being looked up; a later request gets the outcome. */
async function enrol(
  context: Needs,
  chain: ServedChain,
  address: Address,
  request: FastifyRequest,
  reply: FastifyReply,
  view: View,
): Promise<unknown> {
  const { chainId } = chain.config
  const enrolment = await enrolFor(context, principalOf(request), chain, address, {
    pay: () => charge(context, request, reply, COMPUTING_UNITS),
    giveBack: lookUps => giveBack(context, request, reply, lookUps * COMPUTING_UNITS),
  })
  if (enrolment.state === 'EVALUATED') {
    const ready = await context.quotes.read(chainId, address, context.clock.nowMs())
    if (ready !== null) return sendReady(request, reply, ready, view)
  }
  const pending = enrolment.state === 'PENDING' ? enrolment : { stage: 'EVALUATION', retryAfterMs: 1000 }
  void reply.code(202).header('retry-after', Math.max(1, Math.ceil(pending.retryAfterMs / 1000)))
  return pendingText(chainId, address, pending)
}

function narrowingIn(params: Params): Narrowing | null {
  const maxHops = params.integer('max_hops', 1, 3)
  const minDepthUsd = params.integer('min_depth_usd', 0, 1_000_000_000)
  const excluded = params.text('exclude_pools')
  if (maxHops === null && minDepthUsd === null && excluded === null) return null
  const addresses = excluded === null || excluded === '' ? [] : excluded.split(',')
  if (addresses.length > MAX_EXCLUDED)
    throw malformedQuote({
      kind: 'params',
      message: `exclude_pools has ${addresses.length} entries; expected at most ${MAX_EXCLUDED}`,
    })
  return {
    maxHops,
    minDepthUsd,
    excludePools: addresses.map(each => poolIn('exclude_pools', each, malformedQuote)),
  }
}
