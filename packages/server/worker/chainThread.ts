/** The thread of one chain. It owns its feed, its engine and its store connection, and ends with the first failure. */
import type { MessagePort } from 'node:worker_threads'
import { openFeed } from '../feed/openFeed.ts'
import { ANSWER_UPDATED } from '../market/abi.ts'
import { POOL_TOPICS } from '../market/families.ts'
import { openMarket } from '../market/openMarket.ts'
import { systemClock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import { openStore } from '../store/openStore.ts'
import { UPGRADES } from './readings/audit.ts'
import { startChain } from './chainHost.ts'
import { fromThread, type Reply, type Request, type ThreadData } from './messages.ts'
import { WorkLog } from './workLog.ts'

/** Topics of the logs we decode, and of those that announce an upgrade. */
const WANTED_TOPICS: ReadonlySet<string> = new Set([ANSWER_UPDATED, ...POOL_TOPICS, ...UPGRADES])

export async function runChain(port: MessagePort, data: ThreadData): Promise<void> {
  const say = (reply: Reply) => port.postMessage(reply)

  const chain = fromThread(data.chain)
  /** Threads send their log lines to the main thread, which writes the one log. */
  const tell =
    (level: keyof Log) =>
    (message: string, fields: Record<string, unknown> = {}) =>
      say({ kind: 'log', level, message, fields })
  const log: Log = { info: tell('info'), warn: tell('warn'), error: tell('error') }
  const store = await openStore(data.storeAddress, data.lease)
  const work = new WorkLog()
  const host = await startChain({
    chain,
    policy: data.policy,
    coverage: data.coverage,
    // Timed from outside, because the host has no metrics.
    step: work.step,
    store: { ...store, commit: work.commit(commit => store.commit(commit)) },
    openFeed: async resume =>
      work.follow(
        await openFeed({
          chain,
          clock: systemClock,
          resume,
          topics: WANTED_TOPICS,
          log: (level, message, fields) => {
            if (level !== 'debug') log[level](message, { chain_id: chain.chainId, ...fields })
          },
        }),
      ),
    openMarket: rpc => openMarket(chain, rpc),
    clock: systemClock,
    log,
    onCommitted: last => say({ kind: 'committed', last, work: work.work }),
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

  // A failure ends the thread, and its supervisor starts another from the last commit.
  await host.ended
}
