/**
 * Current prices of tokens for answers in other services' formats: from one snapshot, under the feed's overlay, and
 * none below the operator's score. Every missing price has a reason instead.
 */
import { exact } from '@assay/sdk'
import type { CompactState } from '@assay/sdk/wire'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../../ops/hex.ts'
import type { TokenRow } from '../../store/port.ts'
import { lookUpAll } from '../resources/batchLookUps.ts'
import { ENTRY_UNITS, giveBack, spend } from '../plumbing/charge.ts'
import type { HttpContext } from '../plumbing/context.ts'
import { budgetSpent } from '../resources/chainCall.ts'
import { presentText, readingOf } from '../views/stateAsShown.ts'
import { principalOf } from '../resources/session.ts'

type Needs = Pick<HttpContext, 'chains' | 'clock' | 'config' | 'feeds' | 'limit' | 'quotes' | 'store'>

export type Token = { readonly chainId: number; readonly tokenAddress: Address }

export type Price = {
  readonly value: exact.Exact
  readonly score: number
  readonly evaluatedAtMs: number
}
/** A price, or why there is none; `row` is the stored row of the token. */
export type Found = { readonly row: TokenRow | null } & (
  | { readonly price: Price }
  | { readonly price: null; readonly reason: string }
)

/** In the order of the request. An unknown token is looked up, within the quota, and priced at a later request. */
export async function currentPrices(
  context: Needs,
  request: FastifyRequest,
  reply: FastifyReply,
  tokens: readonly Token[],
): Promise<readonly Found[]> {
  const known = await knownPrices(context, tokens)
  const nowMs = context.clock.nowMs()
  for (const { chainId, tokenAddress } of tokens)
    context.quotes.onAsked?.(`${chainId}/${tokenAddress}`, nowMs)
  const unknown = tokens.filter((_, at) => isUnknown(known[at]))
  if (unknown.length === 0) return known
  const fee = {
    async pay() {
      const { allowed, waitMs } = await spend(context, request, reply, ENTRY_UNITS)
      if (!allowed) throw budgetSpent(`looking up a token costs ${ENTRY_UNITS} units`, 'QUOTA', waitMs)
    },
    giveBack: (lookUps: number) => giveBack(context, request, reply, lookUps * ENTRY_UNITS),
  }
  const lookedUp = (await lookUpAll(context, principalOf(request), unknown, fee)).values()
  return known.map(found => {
    if (!isUnknown(found)) return found
    const outcome = lookedUp.next().value
    const reason = outcome !== undefined && 'error' in outcome ? outcome.error.code : 'PENDING'
    return { row: found.row, price: null, reason }
  })
}

/** Uses stored prices only: nothing is looked up. */
export async function knownPrices(context: Needs, tokens: readonly Token[]): Promise<readonly Found[]> {
  if (tokens.length === 0) return []
  const rows = await context.store.readTokensOf(tokens)
  return tokens.map(({ chainId }, at) => foundIn(context, chainId, rows[at] ?? null))
}

/** `text` is a compact state from a token's or a pool's row. */
export function priceIn(context: Needs, chainId: number, text: string | null): Price | string {
  const state = presentText(text, readingOf(context, chainId)) as CompactState | null
  if (state === null) return UNKNOWN
  return priceOf(state, context.config.compat.minScore)
}

/** The price of a state, or why it counts as none. */
export function priceOf(state: CompactState, minScore: number): Price | string {
  if (state.state !== 'PRICED') return state.reason
  const { score } = state.confidence
  if (score < minScore) return `BELOW_MIN_SCORE(${score})`
  return { value: exact.from(state.price_usd), score, evaluatedAtMs: state.evaluated_at_ms }
}

function foundIn(context: Needs, chainId: number, row: TokenRow | null): Found {
  const price = priceIn(context, chainId, row?.price ?? null)
  return typeof price === 'string' ? { row, price: null, reason: price } : { row, price }
}

const UNKNOWN = 'UNKNOWN'
/** Includes a dormant token: it was requested now, so it is being enrolled again like an unknown one. */
const isUnknown = (found: Found | undefined): found is Found & { readonly price: null } =>
  found?.price === null && (found.reason === UNKNOWN || found.reason === 'DORMANT')
