/** Entry point of a chain's thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { runChain } from './chainThread.ts'
import type { ThreadData } from './messages.ts'

if (parentPort === null) throw new Error('this file is the entry of a worker thread')
await runChain(parentPort, workerData as ThreadData)
