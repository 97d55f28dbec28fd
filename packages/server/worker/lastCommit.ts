/** What a chain goes on with after a start: the state of its last commit, and where its feed takes up the thread. */
import { createState, decodeState, type EntityKey, type Policy, type State } from '@assay/engine'
import type { Resume } from '../feed/feed.ts'
import type { ChainConfig } from '../ops/config.ts'
import type { ChainStore } from '../store/port.ts'
import type { Stored } from './commitOf.ts'
import { setupOf } from './setupOf.ts'

export type LastCommit = { readonly state: State; readonly resume: Resume | null; readonly stored: Stored }

/** A chain that was never committed begins with nothing, under the policy given. */
export async function readLastCommit(
  store: Pick<ChainStore, 'readCheckpoint'>,
  chain: ChainConfig,
  policy: Policy,
): Promise<LastCommit> {
  const checkpoint = await store.readCheckpoint(chain.chainId)
  const setup = setupOf(chain)
  if (checkpoint === null)
    return {
      state: createState(setup, policy),
      resume: null,
      stored: { pools: new Set(), tokens: new Map() },
    }
  const state = decodeState(setup, checkpoint.entities as readonly (readonly [EntityKey, string])[])
  const stored = { pools: new Set(state.pools.keys()), tokens: new Map() }
  return { state, resume: resumeOf(state), stored }
}

function resumeOf(state: State): Resume | null {
  const { tip, finalized } = state.chain
  if (tip === null) return null
  const [oldest, ...rest] = state.journals
  const gap = state.gaps.at(-1)
  // The block a gap ends at is not undone by itself: what is below it was not followed.
  const isAfterGap = gap !== undefined && gap.toBlock === oldest?.block.number
  return {
    tip,
    undoable: (isAfterGap ? rest : state.journals).map(({ block, parentHash }) => ({ ...block, parentHash })),
    finalized,
    ...(isAfterGap ? { beforeGap: { number: gap.fromBlock - 1, hash: gap.afterHash } } : {}),
  }
}
