/**
 * Bugs to plant: a simulation that does not find them would find nothing. Each occurs where a real one could, around
 * the real part and not in it.
 */
import { type Address, type Input, type Pool, type State, step } from '../../packages/engine/index.ts'
import type { Random } from '../../packages/engine/testing/randomMarket.ts'
import type { LogStore } from '../../packages/server/store/port.ts'

export const BUGS = [
  /** The hub misses a record occasionally. */
  'SKIPPED_RECORD',
  /** A commit whose response was lost is made again. */
  'REPEATED_COMMIT',
  /** A reorganisation leaves a pool in its state from the lost branch. */
  'FORGOTTEN_UNDO',
  /** A token's record never reaches the log. */
  'UNTOLD_PRICE',
  /** A stored state differs from the one that was reached. */
  'STALE_CHECKPOINT',
  /** A token whose outcome changes with time is not evaluated when it is due. */
  'FORGOTTEN_DUE',
] as const
export type Bug = (typeof BUGS)[number]

export function buggyStep(bug: Bug | null, random: Random): typeof step {
  if (bug === 'FORGOTTEN_UNDO')
    return (state, input) => {
      const before = new Map<Address, Pool['state']>([...state.pools].map(([at, pool]) => [at, pool.state]))
      const result = step(state, input)
      if (input.kind === 'reorg') keepOne(state, before)
      return result
    }
  if (bug === 'UNTOLD_PRICE')
    return (state: State, input: Input) => {
      const result = step(state, input)
      if (!random.chance(0.01)) return result
      const at = result.records.findIndex(
        ({ type, payload }) => type === 'PRICE_UPSERT' && payload['scope'] === 'token',
      )
      return { ...result, records: result.records.filter((_, index) => index !== at) }
    }
  if (bug === 'STALE_CHECKPOINT')
    return (state, input) => {
      const result = step(state, input)
      const changed = result.changed.filter(key => !key.startsWith('pool/') || !random.chance(0.02))
      return { ...result, changed }
    }
  if (bug === 'FORGOTTEN_DUE')
    return (state, input) => {
      const result = step(state, input)
      if (random.chance(0.05)) forgetDues(state)
      return result
    }
  return step
}

/** The part of the log that a hub reads. */
export function buggyLog(bug: Bug | null, random: Random, store: LogStore): LogStore {
  if (bug !== 'SKIPPED_RECORD') return store
  return {
    readBounds: () => store.readBounds(),
    async readLog(after, limit, chainId) {
      const page = await store.readLog(after, limit, chainId)
      const skipped = page.length > 2 && random.chance(0.01) ? 1 : -1
      return page.filter((_, at) => at !== skipped)
    },
  }
}

function forgetDues(state: State): void {
  for (const token of state.tokens.values()) {
    token.dueMs = null
    state.index.dues.set(token.address, null)
  }
}

/** Restores the first pool that the reorganisation changed. */
function keepOne(state: State, before: ReadonlyMap<Address, Pool['state']>): void {
  for (const [address, pool] of state.pools) {
    const image = before.get(address)
    if (image === undefined || image === pool.state) continue
    pool.state = image
    return
  }
}
