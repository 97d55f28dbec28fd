/** Answers computed for one token at the tip, with the errors and the 202 that all of them share. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../../ops/hex.ts'
import type { ChainService } from '../../worker/chainService.ts'
import { QuoteError } from '../plumbing/apiError.ts'
import { charge, COMPUTING_UNITS, giveBack } from '../plumbing/charge.ts'
import type { HttpContext, ServedChain } from '../plumbing/context.ts'
import { enrolFor, pendingText } from './enrol.ts'
import { inTime, serviceOf, tooLate } from './chainCall.ts'
import { Params } from '../plumbing/params.ts'
import { readingOf } from '../views/stateAsShown.ts'
import { subject } from '../views/quoteSubject.ts'
import { malformedQuote, searchOf, sendJson } from '../plumbing/request.ts'
import { principalOf } from './session.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'limit' | 'quotes' | 'store'>

export type ComputedAnswer =
  | { readonly outcome: 'answer'; readonly json: string }
  | { readonly outcome: 'not_enrolled' }
  | { readonly outcome: 'is_stable' }
  | { readonly outcome: 'too_late' }
  | { readonly outcome: 'unpriced'; readonly reason: string }

export type Question = {
  readonly parameters: readonly string[]
  readonly deadlineMs: number
  /** Checks the parameters before anything is charged. */
  readonly asked: (params: Params) => (chain: ChainService, token: Address) => Promise<ComputedAnswer>
  /** Messages for a token without a price, and for a stable. */
  readonly unpriced: string
  readonly stable: string
}

/** The handler of a path that ends with `:chain_id` and `:token_address`. */
export function answering(context: Needs, question: Question) {
  const { parameters, deadlineMs, asked } = question
  const unpriced = (reason: string) => new QuoteError('NO_ROUTE', question.unpriced, reason)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const params = new Params(searchOf(request), parameters, malformedQuote)
    const { chain, address } = subject(context, request, 'token_address')
    const ask = asked(params)
    if (readingOf(context, chain.config.chainId).feedGone !== null) throw unpriced('FEED')
    const ready = await context.quotes.read(chain.config.chainId, address, context.clock.nowMs())
    if (ready === null) return pending(context, chain, address, request, reply)
    await charge(context, request, reply, COMPUTING_UNITS)
    const answer = await inTime(ask(serviceOf(chain), address), deadlineMs)
    switch (answer.outcome) {
      case 'answer':
        return sendJson(reply, answer.json)
      case 'not_enrolled':
        return pending(context, chain, address, request, reply)
      case 'unpriced':
        throw unpriced(answer.reason)
      case 'too_late':
        throw tooLate(deadlineMs)
      case 'is_stable':
        throw new QuoteError('NOT_SUPPORTED', `${address} is a stable: ${question.stable}`, 'STABLE')
    }
  }
}

/** A token that is not evaluated yet: 202, like its quote. */
async function pending(
  context: Needs,
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
