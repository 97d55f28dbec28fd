/** The thread of one chain. It owns its feed, its engine and its connection to the store, and ends with the first failure. */
import { parentPort, workerData } from 'node:worker_threads'
import { openFeed } from '../feed/openFeed.ts'
import { openMarket } from '../market/openMarket.ts'
import { systemClock } from '../ops/clock.ts'
import { createLog } from '../ops/log.ts'
import { openStore } from '../store/openStore.ts'
import { startChain } from './chainHost.ts'
import { fromThread, type Reply, type Request, type ThreadData } from './messages.ts'

const port = parentPort
if (port === null) throw new Error('this file is the entry of a worker thread')
const say = (reply: Reply) => port.postMessage(reply)

const data = workerData as ThreadData
const chain = fromThread(data.chain)
const log = createLog(data.logLevel)
const store = await openStore(data.storeAddress)
let commitMs = 0
const host = await startChain({
  chain,
  policy: data.policy,
  coverage: data.coverage,
  // Timed from outside: the host knows of no metrics.
  store: {
    ...store,
    async commit(commit) {
      const startMs = performance.now()
      const outcome = await store.commit(commit)
      commitMs = performance.now() - startMs
      return outcome
    },
  },
  openFeed: resume => openFeed({ chain, clock: systemClock, resume }),
  openMarket: rpc => openMarket(chain, rpc),
  clock: systemClock,
  log,
  onCommitted: last => say({ kind: 'committed', last, tookMs: commitMs }),
})
say({ kind: 'started' })

port.on('message', (request: Request | 'close') => {
  if (request === 'close') {
    host
      .close()
      .then(() => store.close())
      .finally(() => port.close())
      .catch(() => undefined)
    return
  }
  const call = host[request.method] as (...args: readonly unknown[]) => Promise<unknown>
  call.apply(host, request.args as unknown[]).then(
    result => say({ kind: 'reply', id: request.id, result }),
    (failure: unknown) =>
      say({
        kind: 'failure',
        id: request.id,
        message: failure instanceof Error ? failure.message : String(failure),
      }),
  )
})

// A failure ends the thread, and its keeper starts another from the last commit.
await host.ended
