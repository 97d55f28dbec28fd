/** GET /v1/cost: what it would cost to move the published price of a token, computed at the tip. */
import type { FastifyInstance } from 'fastify'
import { answering } from './computedAnswer.ts'
import type { HttpContext } from '../plumbing/context.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'feeds' | 'flights' | 'limit' | 'quotes' | 'store'>

/** About ten times what an answer takes on two idle cores: it alternates with blocks, and waits for other answers. */
const DEADLINE_MS = 20_000

export function registerCost(app: FastifyInstance, context: Needs): void {
  const respond = answering(context, {
    parameters: [],
    deadlineMs: DEADLINE_MS,
    asked: () => async (chain, token) => {
      // Requests for the same token share an answer.
      const answer = await context.flights.run(`cost ${chain.chainId} ${token}`, () =>
        chain.cost(token, DEADLINE_MS),
      )
      return answer.outcome === 'cost' ? { outcome: 'answer', json: answer.cost } : answer
    },
    unpriced: 'the token has no price at present',
    stable: 'its price comes from its feed, so no pool moves it',
  })
  app.get('/v1/cost/:chain_id/:token_address', respond)
}
