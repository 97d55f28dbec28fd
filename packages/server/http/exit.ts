/** GET /v1/exit: what sales of a token would pay, computed at the tip. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../ops/config.ts'
import type { SaleSizes } from '../worker/chainService.ts'
import { QuoteError } from './apiError.ts'
import { charge, COMPUTING_UNITS, giveBack } from './charge.ts'
import type { HttpContext, ServedChain } from './context.ts'
import { enrolFor, pendingText } from './enrol.ts'
import { inTime, serviceOf } from './onDemand.ts'
import { Params } from './params.ts'
import { readingOf } from './presented.ts'
import { subject } from './quoteSubject.ts'
import { malformedQuote, searchOf, sendJson } from './request.ts'
import { principalOf } from './session.ts'

const DEADLINE_MS = 3000
const MAX_SIZES = 8
const DEFAULT_USD = '100,1000,10000'
/** Of a thousand billion dollars. */
const MAX_MICROUSD = 10n ** 18n
/** What a balance can be. */
const MAX_UNITS = (1n << 256n) - 1n

export function registerExit(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/exit/:chain_id/:token_address', async (request, reply) => {
    const params = new Params(searchOf(request), ['usd', 'amount'], malformedQuote)
    const { chain, address } = subject(context, request, 'token_address')
    const sizes = sizesIn(params)
    if (readingOf(context, chain.config.chainId).feedGone !== null) throw unpriced('FEED')
    const ready = await context.quotes.read(chain.config.chainId, address, context.clock.nowMs())
    if (ready === null) return pending(context, chain, address, request, reply)
    await charge(context, request, reply, COMPUTING_UNITS)
    const answer = await inTime(serviceOf(chain).exit(address, sizes), DEADLINE_MS)
    switch (answer.outcome) {
      case 'exit':
        return sendJson(reply, answer.exit)
      case 'not_enrolled':
        return pending(context, chain, address, request, reply)
      case 'unpriced':
        throw unpriced(answer.reason)
      case 'is_stable':
        throw new QuoteError(
          'NOT_SUPPORTED',
          `${address} is a stable: other tokens are sold for it`,
          'STABLE',
        )
    }
  })
}

const unpriced = (reason: string): QuoteError =>
  new QuoteError('NO_ROUTE', 'the token has no price now, so there is no route to sell it over', reason)

/** Dollars at the published price, or units of the token; one of the two. */
function sizesIn(params: Params): SaleSizes {
  const amount = params.text('amount')
  const usd = params.text('usd')
  if (amount !== null && usd !== null)
    throw malformedQuote({ kind: 'params', message: 'usd and amount are both given; expected one of them' })
  return amount === null
    ? { in: 'microusd', values: listIn('usd', usd ?? DEFAULT_USD, microusdIn) }
    : { in: 'units', values: listIn('amount', amount, unitsIn) }
}

function listIn(name: string, text: string, valueIn: (text: string) => bigint | null): readonly string[] {
  const sizes = text.split(',')
  if (sizes.length > MAX_SIZES)
    throw malformedQuote({
      kind: 'params',
      message: `${name} has ${sizes.length} sizes; expected at most ${MAX_SIZES}`,
    })
  return sizes.map(size => {
    const value = valueIn(size)
    if (value === null)
      throw malformedQuote({
        kind: 'params',
        message: `${name} has the size ${JSON.stringify(size.slice(0, 40))}; expected ${EXPECTED[name]}`,
      })
    return value.toString()
  })
}

const EXPECTED: Readonly<Record<string, string>> = {
  usd: 'dollars above 0 and up to 1000000000000, such as 1000 or 0.5, with at most 6 decimals',
  amount: 'a whole number of the smallest units above 0 and below 2^256',
}

function microusdIn(text: string): bigint | null {
  const match = /^(0|[1-9][0-9]{0,12})(?:\.([0-9]{1,6}))?$/.exec(text)
  if (match === null) return null
  const value = BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'))
  return value > 0n && value <= MAX_MICROUSD ? value : null
}

function unitsIn(text: string): bigint | null {
  if (!/^[1-9][0-9]{0,77}$/.test(text)) return null
  const value = BigInt(text)
  return value <= MAX_UNITS ? value : null
}

/** A token that is not evaluated yet: 202, like its quote. */
async function pending(
  context: HttpContext,
  chain: ServedChain,
  address: Address,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const enrolment = await enrolFor(context, principalOf(request), chain, address, {
    pay: () => charge(context, request, reply, COMPUTING_UNITS),
    giveBack: lookUps => giveBack(context, request, reply, lookUps * COMPUTING_UNITS),
  })
  const stage = enrolment.state === 'PENDING' ? enrolment : { stage: 'EVALUATION', retryAfterMs: 1000 }
  void reply.code(202).header('retry-after', Math.max(1, Math.ceil(stage.retryAfterMs / 1000)))
  return pendingText(chain.config.chainId, address, stage)
}
