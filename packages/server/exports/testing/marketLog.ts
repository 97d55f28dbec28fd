/** A log as the engine writes it: a random life of a market, with branches that die, committed as a worker commits it. */
import { createState, step } from '@assay/engine'
import { randomLife } from '../../../engine/testing/randomLife.ts'
import { SETUP } from '../../../engine/testing/randomMarket.ts'
import { feedHealth } from '../../../sdk/testing/sample.ts'
import type { Store } from '../../store/port.ts'
import { commitOf } from '../../worker/commitOf.ts'

export type MarketLog = {
  /** When a block was taken back, by its hash: after which record of the log. */
  readonly orphaned: ReadonlyMap<string, readonly number[]>
}

export async function writeMarketLog(store: Store, seed: number, rounds: number): Promise<MarketLog> {
  const state = createState(SETUP)
  const stored = { pools: new Set<string>(), tokens: new Map<string, string>() }
  const orphaned = new Map<string, number[]>()
  let tipHash: string | null = null
  let head = 0
  for (const input of randomLife(seed, { rounds, maxDepth: 6, reorgChance: 0.15 }).life) {
    const said =
      input.kind === 'health'
        ? {
            ...input,
            health: { ...input.health, record: { ...feedHealth(0).payload, status: input.health.status } },
          }
        : input
    const result = step(state, said)
    const committed = await store.commit(commitOf(state, said, result, { tipHash }, stored))
    if (committed.outcome === 'conflict') throw new Error('the life of the market did not fit together')
    for (const hash of result.orphaned) orphaned.set(hash, [...(orphaned.get(hash) ?? []), head])
    head = committed.last
    tipHash = state.chain.tip?.hash ?? null
  }
  return { orphaned }
}
