/**
 * Schedules calls to a chain's endpoints: a fixed number at once, with waiting consumers served round-robin, so
 * that a consumer with a thousand calls delays another one by a single call. The chain's own readings are one of
 * the consumers.
 */
import type { ChainRpc } from '../feed/feed.ts'
import { FeedError } from '../feed/feedError.ts'

/** Below what an endpoint is given at the start, so that a block never waits in line behind a look-up. */
const AT_ONCE = 12
/** Of one consumer: a group of large tokens where there is no Multicall3. */
const MAX_WAITING = 20_000

/** The chain itself. */
export const OWN = ''

export class Turns {
  readonly #most: number
  #running = 0
  /** In the order of their next turn. */
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

  /** The place goes to the next consumer in turn, who then stands last. */
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

/** The same calls, each in its turn. */
export const inTurn = (rpc: ChainRpc, turns: Turns, who: string): ChainRpc => ({
  call: (to, data, blockHash, signal) => turns.run(who, () => rpc.call(to, data, blockHash, signal)),
  code: (address, blockHash, signal) => turns.run(who, () => rpc.code(address, blockHash, signal)),
})
