/** POST /v1/quote/tokens: up to a hundred tokens from one snapshot, each with its compact state or its error. */
import type { FastifyInstance } from 'fastify'
import { BatchRequest, type QuoteErrorCode } from '@assay/sdk/wire'
import { lookUpAll } from './batchLookUps.ts'
import { bodyOf } from '../plumbing/body.ts'
import { ENTRY_UNITS, giveBack, spend } from '../plumbing/charge.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { budgetSpent } from './chainCall.ts'
import { addressIn, Params } from '../plumbing/params.ts'
import { presentText, readingOf } from '../views/stateAsShown.ts'
import { malformedQuote, searchOf } from '../plumbing/request.ts'
import { principalOf } from './session.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'limit' | 'quotes' | 'store'>

const MAX_BODY = 64 * 1024

type EntryError = {
  readonly code: QuoteErrorCode | 'BELOW_MIN_SCORE'
  readonly message: string
  readonly detail: string | null
}
type Outcome = { readonly quote: object } | { readonly error: EntryError }

export function registerBatch(app: FastifyInstance, context: Needs): void {
  app.post('/v1/quote/tokens', { bodyLimit: MAX_BODY }, async (request, reply) => {
    new Params(searchOf(request), [], malformedQuote)
    const { tokens, min_score } = bodyOf(request, BatchRequest, malformedQuote)
    const principal = principalOf(request)
    const asked = tokens.map(({ chain_id, token_address }, at) => ({
      chainId: chain_id,
      tokenAddress: addressIn(`tokens.${at}.token_address`, token_address, malformedQuote),
    }))
    const rows = await context.store.readTokensOf(asked)
    const nowMs = context.clock.nowMs()
    const pay = async (): Promise<void> => {
      const { allowed, waitMs } = await spend(context, request, reply, ENTRY_UNITS)
      if (!allowed)
        throw budgetSpent(
          `looking up a token costs ${ENTRY_UNITS} units, but fewer are left; try again later`,
          'QUOTA',
          waitMs,
        )
    }
    const outcomes = asked.map((each, at): Outcome | null => {
      const price = presentText(rows[at]?.price ?? null, readingOf(context, each.chainId))
      context.quotes.onAsked?.(`${each.chainId}/${each.tokenAddress}`, nowMs)
      return price === null || isDormant(price) ? null : judged(price, min_score ?? 0)
    })
    const unknown = asked.filter((_, at) => outcomes[at] === null)
    const fee = {
      pay,
      giveBack: (lookUps: number) => giveBack(context, request, reply, lookUps * ENTRY_UNITS),
    }
    const lookedUp = (await lookUpAll(context, principal, unknown, fee)).values()
    return {
      quotes: asked.map(({ chainId, tokenAddress }, at) => ({
        chain_id: chainId,
        token_address: tokenAddress,
        ...(outcomes[at] ?? lookedUp.next().value),
      })),
    }
  })
}

/** Dormant: it is being requested again now. */
const isDormant = (price: object): boolean => (price as { readonly reason?: string }).reason === 'DORMANT'

/** A state without a price has no score that could be too low, so it is unchanged. */
function judged(price: object, least: number): Outcome {
  const score = (price as { confidence?: { score: number } }).confidence?.score
  if (score === undefined || score >= least) return { quote: price }
  return {
    error: {
      code: 'BELOW_MIN_SCORE',
      message: `its score is ${score}; expected at least ${least}`,
      detail: `${score}`,
    },
  }
}
