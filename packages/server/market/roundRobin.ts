/**
 * Schedules calls to a chain's endpoints: a fixed number at once, with waiting consumers served round-robin, so
 * that a consumer with a thousand calls delays another one by a single call. The chain's own readings are one of
 * the consumers.
 */
import type { ChainRpc } from '../feed/feed.ts'
import { FeedError } from '../feed/feedError.ts'

/** Below the initial window of an endpoint, so that a block never queues behind a look-up. */
const AT_ONCE = 12
/** Waiting calls per consumer: a group of large tokens without Multicall3. */
const MAX_WAITING = 20_000

/** The chain itself. */
export const OWN = ''

export class RoundRobin {
  readonly #most: number
  #running = 0
  /** Ordered by their next turn. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(most: number = AT_ONCE) {
    this.#most = most
  }

  async run<Result>(who: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#most) await this.#wait(who)
    else this.#running++
    try {
      return await task()
    } finally {
      this.#handOn()
    }
  }

  #wait(who: string): Promise<void> {
    const line = this.#waiting.get(who) ?? []
    if (line.length >= MAX_WAITING)
      throw new FeedError('ENDPOINT_BUSY', null, `${MAX_WAITING} calls of one consumer are already waiting`)
    this.#waiting.set(who, line)
    return new Promise(resolve => {
      line.push(resolve)
    })
  }

  /** Passes the slot to the next consumer, which then moves to the end of the queue. */
  #handOn(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#running--
      return
    }
    const [who, line] = next
    const go = line.shift()
    this.#waiting.delete(who)
    if (line.length > 0) this.#waiting.set(who, line)
    go?.()
  }
}

/** The same calls, each waiting for its turn. */
export const inTurn = (rpc: ChainRpc, calls: RoundRobin, who: string): ChainRpc => ({
  call: (to, data, blockHash, signal) => calls.run(who, () => rpc.call(to, data, blockHash, signal)),
  code: (address, blockHash, signal) => calls.run(who, () => rpc.code(address, blockHash, signal)),
})
