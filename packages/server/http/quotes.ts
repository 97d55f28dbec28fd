/** GET /v1/quote/token and GET /v1/quote/pool. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../ops/config.ts'
import { ChainDown, type ChainService, type Narrowing } from '../worker/chainService.ts'
import { QuoteError } from './apiError.ts'
import { charge } from './charge.ts'
import type { HttpContext, ServedChain } from './context.ts'
import { addressIn, integerIn, Params } from './params.ts'
import { presentState } from './present.ts'
import { poolText } from './rows.ts'
import { malformedQuote, pathOf, searchOf, sendJson } from './request.ts'

const DEFAULT_DEADLINE_MS = 3000
const MAX_AGE_MS = 7 * 86_400_000
const MAX_EXCLUDED = 50
/** What computing costs beside the request itself: ten in all. */
const COMPUTING_UNITS = 9

export function registerQuotes(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/quote/token/:chain_id/:token_address', async (request, reply) => {
    const params = new Params(
      searchOf(request),
      ['max_age_ms', 'deadline_ms', 'max_hops', 'min_depth_usd', 'exclude_pools'],
      malformedQuote,
    )
    const { chain, address } = subject(context, request, 'token_address')
    const deadlineMs = params.integer('deadline_ms', 100, 10_000) ?? DEFAULT_DEADLINE_MS
    const maxAgeMs = params.integer('max_age_ms', 0, MAX_AGE_MS)
    const narrowing = narrowingIn(params)
    const stored = await context.store.readQuote(chain.config.chainId, address)
    if (stored === null) return enrol(context, chain, address, reply)
    const quote = presentState(
      JSON.parse(stored.quote) as { evaluated_at_ms: number },
      context.clock.nowMs(),
    ) as { evaluated_at_ms: number }
    const isTooOld = maxAgeMs !== null && context.clock.nowMs() - quote.evaluated_at_ms > maxAgeMs
    if (narrowing === null && !isTooOld) return quote
    charge(context, request, reply, COMPUTING_UNITS)
    const answer = await inTime(serviceOf(chain).tokenQuote(address, narrowing, isTooOld), deadlineMs)
    if (answer.outcome === 'not_enrolled') return enrol(context, chain, address, reply)
    if (answer.outcome === 'rpc_unavailable') throw unavailable(answer.reason)
    const computed = JSON.parse(answer.quote) as { state: string; reason?: string }
    if (narrowing !== null && computed.state === 'UNPRICED')
      throw new QuoteError('NO_ROUTE', 'no route is left with these limits', computed.reason ?? null)
    return sendJson(reply, answer.quote)
  })

  app.get('/v1/quote/pool/:chain_id/:pool_address', async (request, reply) => {
    const params = new Params(searchOf(request), ['deadline_ms', 'max_age_ms'], malformedQuote)
    const { chain, address } = subject(context, request, 'pool_address')
    const deadlineMs = params.integer('deadline_ms', 100, 10_000) ?? DEFAULT_DEADLINE_MS
    params.integer('max_age_ms', 0, MAX_AGE_MS)
    charge(context, request, reply, COMPUTING_UNITS)
    const answer = await inTime(serviceOf(chain).poolQuote(address, deadlineMs), deadlineMs)
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
      case 'rpc_unavailable':
        throw unavailable(answer.reason)
    }
  })
}

/** The current prices of a pool's two sides stand in the store. */
async function withPrices(
  context: HttpContext,
  chainId: number,
  pool: Address,
  quote: string,
): Promise<object> {
  const row = await context.store.readPool(chainId, pool)
  const computed = JSON.parse(quote) as object
  if (row === null) return computed
  const { token0, token1 } = poolText(row, context.clock.nowMs()) as { token0: object; token1: object }
  return { ...computed, token0, token1 }
}

/** 202 while it is on its way in; what comes later is told later. */
async function enrol(
  context: HttpContext,
  chain: ServedChain,
  address: Address,
  reply: FastifyReply,
): Promise<unknown> {
  const { chainId } = chain.config
  const enrolment = await inTime(serviceOf(chain).enrol(address), DEFAULT_DEADLINE_MS)
  switch (enrolment.state) {
    case 'EVALUATED': {
      const stored = await context.store.readQuote(chainId, address)
      if (stored !== null) return presentState(JSON.parse(stored.quote) as object, context.clock.nowMs())
      return pending(reply, chainId, address, 'EVALUATION', 1000)
    }
    case 'PENDING':
      return pending(reply, chainId, address, enrolment.stage, enrolment.retryAfterMs)
    case 'TOKEN_UNKNOWN':
      throw new QuoteError('TOKEN_UNKNOWN', `there is no token at ${address} on chain ${chainId}`)
    case 'RPC_UNAVAILABLE':
      throw unavailable(null)
  }
}

function pending(
  reply: FastifyReply,
  chainId: number,
  address: Address,
  stage: string,
  retryAfterMs: number,
): object {
  void reply.code(202).header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1000)))
  return { chain_id: chainId, token: address, state: 'PENDING', stage, retry_after_ms: retryAfterMs }
}

function subject(
  context: HttpContext,
  request: FastifyRequest,
  name: 'token_address' | 'pool_address',
): { readonly chain: ServedChain; readonly address: Address } {
  const chainId = integerIn(
    'chain_id',
    pathOf(request, 'chain_id'),
    0,
    Number.MAX_SAFE_INTEGER,
    malformedQuote,
  )
  const address = addressIn(name, pathOf(request, name), malformedQuote)
  const chain = context.chains.get(chainId)
  if (chain === undefined)
    throw new QuoteError(
      'UNSUPPORTED_CHAIN',
      `chain ${chainId} is not served; served are ${[...context.chains.keys()].join(', ')}`,
    )
  return { chain, address }
}

function serviceOf(chain: ServedChain): ChainService {
  const service = chain.service()
  if (service === null)
    throw new QuoteError(
      'RPC_UNAVAILABLE',
      `chain ${chain.config.chainId} is not running right now; try again`,
    )
  return service
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
    excludePools: addresses.map(each => addressIn('exclude_pools', each, malformedQuote)),
  }
}

const unavailable = (reason: string | null): QuoteError =>
  new QuoteError('RPC_UNAVAILABLE', 'the chain cannot be asked right now; try again', reason)

/** What is not there by the deadline is not waited for; it goes on and may be asked for again. */
async function inTime<Result>(work: Promise<Result>, deadlineMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new QuoteError(
            'DEADLINE_EXCEEDED',
            `no answer within ${deadlineMs} ms; raise deadline_ms or try again`,
          ),
        ),
      deadlineMs,
    )
  })
  try {
    return await Promise.race([work, late])
  } catch (failure) {
    if (failure instanceof ChainDown) throw unavailable(failure.message)
    throw failure
  } finally {
    clearTimeout(timer)
  }
}
