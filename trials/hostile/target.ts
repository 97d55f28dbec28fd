/** The target: the API of a node in a separate process, over a real store with a log and without a chain. */
import type { RecordDraft } from '../../packages/server/store/port.ts'
import { health } from '../../packages/server/store/testing/drafts.ts'
import { openTestApi } from '../../packages/server/endToEnd/testing/testApi.ts'

export type Order = 'key' | 'memory' | 'streams' | { readonly revoke: string }
export type Message =
  | { readonly url: string; readonly cursor: string; readonly key: string }
  | { readonly key: string }
  | { readonly streams: number }
  | Memory
  | { readonly revoked: string }

/**
 * After several collections. The heap in use grows with a leak; resident memory never shrinks by as much as it grew.
 */
export type Memory = { readonly residentMib: number; readonly heapMib: number; readonly outsideMib: number }

/** More than the system buffers for a small window. */
const STEPS = 40
const EACH = 100

const padded = (): RecordDraft => ({
  ...health(1, 'HEALTHY'),
  payload: { chain_id: 1, status: 'HEALTHY', pad: 'x'.repeat(900) },
})
const tell = (message: Message) => process.send?.(message)

const api = await openTestApi()
for (let step = 0; step < STEPS; step++)
  await api.commit(
    1,
    Array.from({ length: EACH }, () => padded()),
  )
const key = await api.key()
const answer = await fetch(`${api.url}/v1/session?chain_id=1&snapshot_sequence=0`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}` },
})
const { resume_cursor: cursor } = (await answer.json()) as { resume_cursor: string }
tell({ url: api.url, cursor, key })

process.on('message', (order: Order) => void obey(order))

async function obey(order: Order): Promise<void> {
  if (order === 'key') tell({ key: await api.key() })
  else if (order === 'streams') tell({ streams: api.streams })
  else if (order === 'memory') {
    // Several runs with pauses: empty pages return to the system in the background.
    for (let run = 0; run < 4; run++) {
      globalThis.gc?.()
      await new Promise(resolve => setTimeout(resolve, 500))
    }
    const { rss, heapUsed, external } = process.memoryUsage()
    tell({ residentMib: rss / 2 ** 20, heapMib: heapUsed / 2 ** 20, outsideMib: external / 2 ** 20 })
  } else {
    await api.access.revoke(order.revoke)
    tell({ revoked: order.revoke })
  }
}
