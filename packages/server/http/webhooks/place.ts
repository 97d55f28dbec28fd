/** Where a webhook begins on the log, and what its condition knows of earlier records. */
import type { WebhookCondition } from '@assay/sdk/wire'
import { RequestError } from '../plumbing/apiError.ts'
import { type HttpContext, servedChain } from '../plumbing/context.ts'
import { addressIn } from '../plumbing/params.ts'
import { malformed } from '../plumbing/request.ts'
import { judgeOf } from '../../webhooks/condition.ts'
import type { Sequence } from '../../store/port.ts'

type Needs = Pick<HttpContext, 'chains' | 'hub' | 'store'>

/** Prices have at most 4096 bits a side; no threshold needs as many digits as that. */
const MAX_DIGITS = 100
const MOST_TRIES = 100

type Place = { readonly position: Sequence; readonly memory: string | null }

/** The condition to store, once everything it names is known here. */
export async function checkedCondition(
  context: Needs,
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

/** Starts at the present head. */
export async function placeNow(context: Needs, condition: WebhookCondition): Promise<Place> {
  const { store, hub } = context
  const { chain_id: chainId } = condition
  if (condition.kind !== 'health') return placeAt(context, condition, hub.head)
  // Repeated if the log moved meanwhile: the memory must not be newer than the position.
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
  // This node never caught up: the first record becomes the memory.
  return { position: hub.head, memory: null }
}

/**
 * Starts at a position of the log, with the state at that time. For a chain's health only the newest is known, so there
 * the first record becomes the memory.
 */
export async function placeAt(
  { store }: Needs,
  condition: WebhookCondition,
  position: Sequence,
): Promise<Place> {
  if (!('token_address' in condition) || condition.token_address === undefined)
    return { position, memory: null }
  const { chain_id: chainId, token_address: address } = condition
  const held = await store.readTokenAt(chainId, address, { sequence: position })
  if (held !== null) return { position, memory: seeded(condition, held.state) }
  // Its record was pruned, and there has been none since.
  const token = await store.readToken(chainId, address)
  const isOlder = token?.sequence != null && token.sequence <= position
  return { position, memory: seeded(condition, isOlder ? token.price : null) }
}

function seeded(condition: WebhookCondition, state: string | null): string | null {
  if (state === null) return null
  const memory = judgeOf(condition).seed(JSON.parse(state))
  return memory === null ? null : JSON.stringify(memory)
}
