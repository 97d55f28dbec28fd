/** A fixed market whose prices go up and down by the step alone, so that a reader of its log knows which messages are due. */
import type { RecordDraft, StepCommit } from '../../store/port.ts'
import {
  address,
  commitOf,
  health,
  tokenFacts,
  tokenRetract,
  tokenUpsert,
} from '../../store/testing/drafts.ts'

export const CHAIN = 1
export const TOKEN = address(0x77)

/** A state of the token with this price and score. */
export function pricedAt(
  recordId: string,
  numerator: bigint,
  denominator: bigint,
  score = 7,
  token = TOKEN,
): RecordDraft {
  const draft = tokenUpsert({ chainId: CHAIN, recordId }, token, '1')
  const price_usd = { numerator: String(numerator), denominator: String(denominator), display: '1' }
  const confidence = { ...(draft.payload['confidence'] as object), score }
  return { ...draft, payload: { ...draft.payload, price_usd, confidence } }
}

export const retractedTo = (
  recordId: string,
  retracted: string,
  numerator: bigint,
  denominator: bigint,
): RecordDraft => {
  const draft = tokenRetract({ chainId: CHAIN, recordId }, TOKEN, retracted, 'REORG')
  const { payload } = pricedAt(recordId, numerator, denominator)
  const { scope: _, chain_id: __, token_id: ___, record_id: ____, ...current } = payload
  return { ...draft, payload: { ...draft.payload, current } }
}

/** Prices between 0.90 and 1.10 in a walk that meets 1 often, every fifth record taken back. */
export function marketCommit(step: number): StepCommit {
  const at = (of: number) => BigInt(90 + ((of * 7919) % 21))
  const id = (of: number) => `${of}`
  const records: RecordDraft[] = [pricedAt(id(step), at(step), 100n, (step * 31) % 11)]
  if (step % 5 === 0) records.push(retractedTo(`${step}r`, id(step), at(step - 1), 100n))
  if (step % 7 === 0) records.push(health(CHAIN, step % 2 === 0 ? 'HEALTHY' : 'DEGRADED'))
  return commitOf(CHAIN, step, {
    records,
    tokens: step === 1 ? [tokenFacts(TOKEN)] : [],
    atMs: Date.now(),
  })
}
