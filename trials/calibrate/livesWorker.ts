/** A thread that simulates one market after another, as it receives them. */
import { parentPort } from 'node:worker_threads'
import { type LifeOptions, liveMarket } from './life.ts'

parentPort?.on('message', (life: LifeOptions) => parentPort?.postMessage(liveMarket(life)))
