/** What a chain resumes from after a start: the state of its last commit, and the position of its feed. */
import { createState, decodeState, type EntityKey, type Policy, type State } from '@assay/engine'
import type { Resume } from '../feed/feed.ts'
import type { ChainConfig } from '../config/config.ts'
import type { ChainStore, Checkpoint } from '../store/port.ts'
import { StoreError } from '../store/storeError.ts'
import type { Stored } from './commitOf.ts'
import { setupOf } from './setupOf.ts'

export type LastCommit = { readonly state: State; readonly resume: Resume | null; readonly stored: Stored }

/** A chain without a commit starts empty, under the given policy. */
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
  const state = decoded(setup, checkpoint)
  const stored = { pools: new Set(state.pools.keys()), tokens: new Map() }
  return { state, resume: resumeOf(state), stored }
}

/** Stops only this chain, with a clear message, when its stored text is damaged; other chains have their own. */
function decoded(setup: ReturnType<typeof setupOf>, { entities }: Checkpoint): State {
  try {
    return decodeState(setup, entities as readonly (readonly [EntityKey, string])[])
  } catch (cause) {
    throw new StoreError(
      'STORE_CORRUPT',
      `the stored state of chain ${setup.chainId} cannot be read (table entity): \`assay db check\` names the page; put a ` +
        'backup back with `assay db restore`',
      { cause },
    )
  }
}

function resumeOf(state: State): Resume | null {
  const { tip, finalized } = state.chain
  if (tip === null) return null
  const [oldest, ...rest] = state.journals
  const gap = state.gaps.at(-1)
  // The block that ends a gap cannot be undone, because the block below it was not followed.
  const isAfterGap = gap !== undefined && gap.toBlock === oldest?.block.number
  return {
    tip,
    undoable: (isAfterGap ? rest : state.journals).map(({ block, parentHash }) => ({ ...block, parentHash })),
    finalized,
    ...(isAfterGap ? { beforeGap: { number: gap.fromBlock - 1, hash: gap.afterHash } } : {}),
  }
}
