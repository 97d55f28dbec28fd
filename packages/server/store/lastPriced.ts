/**
 * The last price of a token that has none now: every UNPRICED state gives it, with the record that published it. It
 * follows from the state stored before the new record, so no engine record carries a sequence. It describes the log,
 * not the chain: a price that a reorganisation withdrew is still the last one published.
 */
import { type CompactState, lastPricedIn } from '@assay/sdk/wire'
import type { RecordDraft } from './rows.ts'

/** Whether the record gives its token a state without a price. */
export function isUnpriced({ type, payload }: RecordDraft): boolean {
  if (payload['scope'] !== 'token') return false
  const state = type === 'PRICE_RETRACT' ? (payload['current'] as typeof payload) : payload
  return state['state'] === 'UNPRICED'
}

/** The field as JSON text, from the state stored before; null for a token without one. */
export const lastPricedText = (before: string | null): string =>
  before === null ? 'null' : JSON.stringify(lastPricedIn(JSON.parse(before) as CompactState) ?? null)

/** Appends the field to a state or quote that lacks it. */
export const withLastPriced = (text: string, lastPriced: string): string =>
  `${text.slice(0, -1)},"last_priced":${lastPriced}}`
