/** Where a webhook begins on the log, and what its condition knows of the records up to there. */
import type { WebhookCondition } from '@assay/sdk/wire'
import { RequestError } from '../plumbing/apiError.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { addressIn } from '../plumbing/params.ts'
import { malformed } from '../plumbing/request.ts'
import { judgeOf } from '../../webhooks/condition.ts'
import type { Sequence } from '../../store/port.ts'

/** Prices have at most 4096 bits a side; no threshold needs as many digits as that. */
const MAX_DIGITS = 100
const MOST_TRIES = 100

type Place = { readonly position: Sequence; readonly memory: string | null }

/** The condition as it is kept, once everything it names is known here. */
export async function checkedCondition(
  context: HttpContext,
  condition: WebhookCondition,
): Promise<WebhookCondition> {
  servedChain(context, condition.chain_id)
  if (condition.kind === 'price_crosses') {
    const { price_usd: price } = condition
    if (/^0(?:\.0*)?$/.test(price) || price.length > MAX_DIGITS)
      throw new RequestError(
        400,
        `condition.price_usd is ${JSON.stringify(price.slice(0, 40))}; expected dollars above 0, in at most ${MAX_DIGITS} characters`,
      )
  }
  if (!('token_address' in condition) || condition.token_address === undefined) return condition
  const address = addressIn('condition.token_address', condition.token_address, malformed)
  if ((await context.store.readToken(condition.chain_id, address)) === null)
    throw new RequestError(
      404,
      `token ${address} is not known on chain ${condition.chain_id}; GET /v1/quote/token enrols it`,
    )
  return { ...condition, token_address: address }
}

/** From now on. */
export async function placeNow(context: HttpContext, condition: WebhookCondition): Promise<Place> {
  const { store, hub } = context
  const { chain_id: chainId } = condition
  if (condition.kind !== 'health') return placeAt(context, condition, hub.head)
  // Read again if the log moved meanwhile: what is remembered must be no newer than the place.
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const position = hub.head
    const text = await store.readHealth(chainId)
    if ((await store.readBounds()).head > position) {
      hub.wake()
      await new Promise(resolve => setImmediate(resolve))
      continue
    }
    return { position, memory: seeded(condition, text) }
  }
  // This node never caught up: the first record it meets is remembered.
  return { position: hub.head, memory: null }
}

/** From a place of the log on, with what held there. Of a chain's health nothing is known but the newest: the first record is remembered. */
export async function placeAt(
  { store }: HttpContext,
  condition: WebhookCondition,
  position: Sequence,
): Promise<Place> {
  if (!('token_address' in condition) || condition.token_address === undefined)
    return { position, memory: null }
  const { chain_id: chainId, token_address: address } = condition
  const held = await store.readTokenAt(chainId, address, { sequence: position })
  if (held !== null) return { position, memory: seeded(condition, held.state) }
  // Its record is no longer kept, and nothing was said since.
  const token = await store.readToken(chainId, address)
  const isOlder = token?.sequence != null && token.sequence <= position
  return { position, memory: seeded(condition, isOlder ? token.price : null) }
}

function seeded(condition: WebhookCondition, state: string | null): string | null {
  if (state === null) return null
  const memory = judgeOf(condition).seed(JSON.parse(state))
  return memory === null ? null : JSON.stringify(memory)
}
