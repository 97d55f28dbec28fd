/**
 * The position of a stopped service's log on each chain, and a new epoch for it: used to decide whether a chain still
 * has the blocks in the log.
 */
import { claimDatabase } from '../store/sqlite/claim.ts'
import { openSqliteStore } from '../store/sqlite/sqliteStore.ts'

export type LogPosition = {
  readonly chainId: number
  readonly tip: { readonly number: number; readonly hash: string }
  /** The lowest block a reorganisation may return to: a chain that lost it too cannot be followed any more. */
  readonly baseHash: string
}

/** For every chain in the log. */
export async function readPositions(
  databasePath: string,
  chainIds: readonly number[],
): Promise<{ readonly epoch: number; readonly positions: readonly LogPosition[] }> {
  return inStore(databasePath, async store => {
    const positions: LogPosition[] = []
    for (const chainId of chainIds) {
      const checkpoint = await store.readCheckpoint(chainId)
      if (checkpoint?.tip == null) continue
      const { number, hash } = checkpoint.tip
      const undo = checkpoint.entities
        .filter(([key]) => key.startsWith('undo/'))
        .map(([key, text]) => ({ number: Number(key.slice('undo/'.length)), text }))
        .sort((a, b) => a.number - b.number)[0]
      const baseHash =
        undo === undefined ? hash : (JSON.parse(undo.text) as { parentHash: string }).parentHash
      positions.push({ chainId, tip: { number, hash }, baseHash })
    }
    return { epoch: (await store.readBounds()).epoch, positions }
  })
}

/** An epoch above `above` and above the log's own: earlier cursors are reset. */
export async function startNextEpoch(databasePath: string, above: number): Promise<number> {
  return inStore(databasePath, async store => {
    let { epoch } = await store.startEpoch()
    while (epoch <= above) ({ epoch } = await store.startEpoch())
    return epoch
  })
}

async function inStore<Result>(
  path: string,
  task: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<Result>,
): Promise<Result> {
  const release = claimDatabase(path)
  try {
    const store = await openSqliteStore({ path })
    try {
      return await task(store)
    } finally {
      await store.close()
    }
  } finally {
    release()
  }
}
