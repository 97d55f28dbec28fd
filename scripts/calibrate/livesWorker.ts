/** A thread that lives one market after the other, as they are handed to it. */
import { parentPort } from 'node:worker_threads'
import { type LifeOptions, liveMarket } from './life.ts'

parentPort?.on('message', (life: LifeOptions) => parentPort?.postMessage(liveMarket(life)))
