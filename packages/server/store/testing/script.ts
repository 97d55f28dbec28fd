/**
 * A fixed history: what a chain commits at each step follows from its id and the step alone. A reader who finds a
 * database at step n knows everything that must be in it.
 */
import type { RecordDraft, StepCommit } from '../port.ts'
import {
  address,
  commitOf,
  eventOf,
  health,
  poolFacts,
  poolUpsert,
  poolRetract,
  swap,
  tipAt,
  tokenFacts,
  tokenRetract,
  tokenUpsert,
} from './drafts.ts'

const TOKENS = 7

export const scriptedTokens = Array.from({ length: TOKENS }, (_, at) => address(0x100 + at))

export const scriptedPools = scriptedTokens.map((token, at) => poolFacts(0x200 + at, token, address('usd')))

/** Every step has records, and every step another number of them; some fill more than one row of the log. */
export function scriptedCommit(chainId: number, step: number): StepCommit {
  return commitOf(chainId, step, {
    records: scriptedRecords(chainId, step),
    entities: [
      { key: 'chain', text: JSON.stringify(`step ${step}`) },
      { key: `undo/${step}`, text: JSON.stringify(`undo ${step}`) },
      { key: `undo/${step - 3}`, text: null },
    ],
    pools: step === 1 ? scriptedPools : [],
    tokens: step === 1 ? scriptedTokens.map(token => tokenFacts(token)) : [],
    events: [eventOf(poolAt(step).poolAddress, step, 0)],
    // Every fourth step takes back the block before it.
    orphanedBlocks: isReorg(step) ? [tipAt(step - 1).hash] : [],
    finalizedNumber: step % 5 === 0 ? 1_000 + step - 5 : null,
    input: step % 3 === 0 ? JSON.stringify(`input ${step}`) : null,
  })
}

function scriptedRecords(chainId: number, step: number): RecordDraft[] {
  const id = (ordinal: number) => ({ chainId, recordId: `${chainId}-${step}-${ordinal}` })
  const pool = poolAt(step)
  const swaps = Array.from({ length: step % 10 === 0 ? 230 : step % 4 }, (_, at) => swap(chainId, pool, at))
  return [
    health(chainId, `step ${step}`),
    ...swaps,
    poolUpsert(id(0), pool, step),
    tokenUpsert(id(1), pool.token0, String(step), [pool.poolAddress]),
    ...(isReorg(step)
      ? [
          poolRetract(id(2), poolAt(step - 1), `${chainId}-${step - 1}-0`, step),
          tokenRetract(id(3), poolAt(step - 1).token0, `${chainId}-${step - 1}-1`),
        ]
      : []),
  ]
}

export const scriptedCount = (chainId: number, step: number): number => scriptedRecords(chainId, step).length

const isReorg = (step: number): boolean => step % 4 === 0

const poolAt = (step: number) => scriptedPools[step % TOKENS] as (typeof scriptedPools)[number]
