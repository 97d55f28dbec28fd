/**
 * A sender of webhooks on a separate thread, like the API beside the thread of a chain: it follows the log of a
 * database and calls a receiver.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../packages/server/ops/clock.ts'
import { openStore } from '../packages/server/store/openStore.ts'
import { key } from '../packages/server/store/testing/drafts.ts'
import { Hub } from '../packages/server/stream/hub.ts'
import { Sender } from '../packages/server/webhooks/sender.ts'
import { makeSecret } from '../packages/server/webhooks/signature.ts'
import { LOCAL_SENDING } from '../packages/server/webhooks/testing/localSending.ts'

const { address, conditions, calls } = workerData as {
  address: string
  conditions: readonly string[]
  /** One number, shared with the thread that measures. */
  calls: Int32Array<SharedArrayBuffer>
}
const receiver = createServer((request, answer) => {
  Atomics.add(calls, 0, 1)
  request.resume()
  answer.writeHead(204).end()
})
await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
const store = await openStore(address)
await store.insertKey({ ...key('bench'), scopes: ['stream'] })
const { head } = await store.readBounds()
for (const [at, condition] of conditions.entries())
  await store.insertWebhook(
    {
      webhookId: `w${at}`,
      consumer: 'bench',
      name: 'bench',
      url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      condition,
      secret: makeSecret(),
      createdAtMs: at,
      position: head,
      memory: null,
    },
    conditions.length,
  )
const hub = await Hub.open(store, systemClock)
const sender = new Sender({
  store,
  hub,
  ...LOCAL_SENDING,
  owner: 'bench',
  isAlone: true,
})
async function end(): Promise<void> {
  await sender.close()
  hub.close()
  await store.close()
  receiver.closeAllConnections()
  receiver.close()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
  parentPort?.postMessage('ended')
  parentPort?.close()
}

parentPort?.on('message', message => {
  // The chain's thread reports that it has committed.
  if (message === 'committed') hub.wake()
  else void end()
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin
parentPort?.postMessage('ready')
