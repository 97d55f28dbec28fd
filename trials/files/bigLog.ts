/**
 * A log with a given number of prices in all forms that files must hold: exact fractions of any length, missing
 * prices, retractions, swaps in between.
 */
import type { RecordDraft, Store } from '../../packages/server/store/port.ts'
import {
  address,
  commitOf,
  poolFacts,
  swap,
  tokenFacts,
  tokenRetract,
  tokenUpsert,
  unpricedUpsert,
} from '../../packages/server/store/testing/drafts.ts'
import { generator } from '../../packages/server/store/testing/generator.ts'

const CHAIN = 1
const TOKENS = Array.from({ length: 40 }, (_, at) => address(0x5000 + at))
const PRICES_A_STEP = 500
const SWAPS_A_STEP = 20
const START_MS = 1_763_000_000_000
const STEP_MS = 12_000

export async function writeBigLog(store: Store, prices: number): Promise<void> {
  const random = generator(prices)
  const pool = poolFacts('pool', TOKENS[0] as string, address('usd'))
  const last = new Map<string, string>()
  for (let written = 0, step = 1; written < prices; step++) {
    const atMs = START_MS + step * STEP_MS
    const records: RecordDraft[] = []
    for (let at = 0; at < PRICES_A_STEP && written < prices; at++, written++) {
      const token = TOKENS[at % TOKENS.length] as string
      const recordId = `${CHAIN}-${step}-${at}`
      records.push(recordOf(token, recordId, last.get(token) ?? null, random, atMs))
      last.set(token, recordId)
    }
    for (let at = 0; at < SWAPS_A_STEP; at++) records.push(swap(CHAIN, pool, at))
    const tokens = step === 1 ? TOKENS.map(token => tokenFacts(token)) : []
    await store.commit(commitOf(CHAIN, step, { records, tokens, atMs }))
  }
}

function recordOf(
  token: string,
  recordId: string,
  before: string | null,
  random: () => number,
  atMs: number,
): RecordDraft {
  const head = { chainId: CHAIN, recordId }
  const turn = random() % 20
  if (turn === 0) return unpricedUpsert(head, token, 'NO_ROUTE')
  if (turn === 1 && before !== null) return tokenRetract(head, token, before)
  const price_usd = {
    numerator: digits(random, 1 + (random() % (turn === 2 ? 900 : 40))),
    denominator: digits(random, 1 + (random() % 40)),
    display: `0.${digits(random, 18)}`,
  }
  const draft = tokenUpsert(head, token, '1')
  return { ...draft, payload: { ...draft.payload, price_usd, evaluated_at_ms: atMs } }
}

const digits = (random: () => number, length: number): string =>
  Array.from({ length }, (_, at) => (at === 0 ? 1 + (random() % 9) : random() % 10)).join('')
