/** The thread of a back-fill, with its own endpoints and store connection, so that no other work waits for it. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openEndpoints } from '../../feed/endpoints/openEndpoints.ts'
import { systemClock } from '../../ops/clock.ts'
import { openStore } from '../../store/openStore.ts'
import { runBackfill } from './backfill.ts'
import type { BackfillData } from './backfillSupervisor.ts'
import { fromThread } from '../messages.ts'

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')
// The past can wait, but requests cannot. Only on Linux does this lower the thread; elsewhere it would be the process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const data = workerData as BackfillData
const chain = fromThread(data.chain)
const store = await openStore(data.storeAddress)
const { endpoints, close } = openEndpoints(chain, systemClock)
const abort = new AbortController()
port.on('message', () => abort.abort())
try {
  await runBackfill({
    chain,
    endpoints,
    store,
    clock: systemClock,
    signal: abort.signal,
    ...data.bounds,
    onProgress: progress => port.postMessage(progress),
  })
} catch (failure) {
  if (!abort.signal.aborted) throw failure
} finally {
  close()
  await store.close()
  port.close()
}
