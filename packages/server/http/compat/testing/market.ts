/** A token with one pool in a store: its prices, swaps, and since when the pool is followed. Two days have passed. */
import type { PoolEventDraft, RecordDraft } from '../../../store/port.ts'
import {
  address,
  type CommitParts,
  poolFacts,
  tokenFacts,
  tokenUpsert,
  unpricedUpsert,
} from '../../../store/testing/drafts.ts'
import type { Token } from '../prices.ts'

export const CHAIN = 1
export const DAY_MS = 86_400_000
export const NOW_MS = 2 * DAY_MS
export const UNIT = 10n ** 18n
export const POOL = poolFacts('pool', address('token'), address('usd'))
export const TOKEN: Token = { chainId: CHAIN, tokenAddress: address('token') as Token['tokenAddress'] }

/** A record of the token at a block, with `price` whole dollars; null means UNPRICED. */
export function said(
  price: number | null,
  block: number,
  atMs: number,
  expiresAtMs: number | null = null,
): RecordDraft {
  const head = { chainId: CHAIN, recordId: `${block}` }
  const draft =
    price === null
      ? unpricedUpsert(head, TOKEN.tokenAddress, 'NO_ROUTE')
      : tokenUpsert(head, TOKEN.tokenAddress, `${price}`)
  const as_of = { block_number: block, block_hash: '0x', block_time_ms: atMs }
  const value =
    price === null
      ? {}
      : {
          price_usd: { numerator: `${price}`, denominator: '1', display: `${price}` },
          expires_at_ms: expiresAtMs,
        }
  return { ...draft, payload: { ...draft.payload, evaluated_at_ms: atMs, as_of, ...value } }
}

export const swapAt = (
  block: number,
  atMs: number,
  amounts: Readonly<Record<string, bigint>>,
): PoolEventDraft => ({
  poolAddress: POOL.poolAddress,
  kind: 'SWAP',
  blockNumber: block,
  blockHash: `hash ${block}`,
  logIndex: 0,
  body: JSON.stringify({
    block_time_ms: atMs,
    ...Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, `${value}`])),
  }),
})

export const followed = (trackedSinceMs: number, createdMs: number | null = null) => ({
  key: `pool/${POOL.poolAddress}`,
  text: JSON.stringify({
    createdMs,
    state: { verifiedMs: 1, verifiedNumber: 1, trackedSinceMs, past: null },
  }),
})

/** 2 dollars until block 50, then 3; 5 and 2 tokens traded within the last day, 7 before it. */
export const marketWith = (entity = followed(0)): readonly CommitParts[] => [
  {
    pools: [POOL],
    tokens: [tokenFacts(TOKEN.tokenAddress)],
    entities: [entity],
    records: [said(2, 1, 0.1 * DAY_MS), said(3, 50, 1.5 * DAY_MS)],
    events: [
      swapAt(10, 0.9 * DAY_MS, { amount0: 7n * UNIT }),
      swapAt(20, 1.2 * DAY_MS, { amount0: -5n * UNIT }),
      swapAt(60, 1.6 * DAY_MS, { amount0_in: 3n * UNIT, amount0_out: 1n * UNIT }),
      swapAt(70, 1.7 * DAY_MS, { amount0: 1000n * UNIT }),
    ],
  },
  { orphanedBlocks: ['hash 70'] },
]
