/** A thread that appends one record after the other to a chain of its own, with pauses from a seed. */
import { setTimeout as delay } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { openStore } from '../openStore.ts'
import { commitOf, health } from './drafts.ts'
import { generator } from './generator.ts'
import type { AppenderOptions } from './tail.ts'

const { address, appends, seed, chainId } = workerData as AppenderOptions & { readonly chainId: number }
const next = generator(seed)
const store = await openStore(address)
for (let step = 1; step <= appends; step++) {
  const result = await store.commit(commitOf(chainId, step, { records: [health(chainId, `${step}`)] }))
  if (result.outcome !== 'committed') throw new Error(`step ${step}: ${JSON.stringify(result)}`)
  // One in four waits, so that the writers meet in ever other orders.
  if (next() % 4 === 0) await delay(next() % 4)
}
await store.close()
