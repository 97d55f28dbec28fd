/** Back-fills made-up events of a chain in a thread of its own, as the back-fill of a chain does. It reports when it begins. */
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../ops/clock.ts'
import { openStore } from '../../store/openStore.ts'
import { address, eventOf } from '../../store/testing/drafts.ts'
import { BackfillWriter } from '../backfill/backfillWriter.ts'

export type BackfillerData = { readonly address: string; readonly chainId: number; readonly events: number }

const { address: storeAddress, chainId, events } = workerData as BackfillerData
const store = await openStore(storeAddress)
const drafts = Array.from({ length: events }, (_, at) => eventOf(address(at % 997), 1 + (at >> 7), at))
const writer = new BackfillWriter({ chainId, clock: systemClock, store })
const before = { fromBlock: 0, toBlock: 100_000, nextBlock: 0, events: 0, startedAtMs: 1 }
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('begins')
await writer.writeEvents(drafts, before, { ...before, nextBlock: 100_001, events })
await store.close()
