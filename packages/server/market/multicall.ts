/**
 * Sends simultaneous calls together, through Multicall3 where it is deployed and one by one elsewhere. A call that
 * fails inside a batch is repeated alone before it counts as reverted: another call may have used up its gas, and a
 * failure must be the contract's own to count.
 */
import type { ChainRpc } from '../feed/feed.ts'
import type { Hex } from '../ops/hex.ts'
import { decodeAggregate, encodeAggregate } from './aggregate.ts'

/** The same address on every chain (chain-facts, trap 14), but not from its first block. */
export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** Some hundred kilobytes of answer, and gas well below the usual limits for a call. */
const BATCH = 100
/** Where it is missing, it is checked again after this many batches: it may be deployed later. */
const LOOK_AGAIN = 100

type Waiting = {
  readonly to: Hex
  readonly data: Hex
  readonly resolve: (answer: Hex | null) => void
  readonly reject: (failure: unknown) => void
}

export function batching(rpc: ChainRpc): ChainRpc {
  return new BatchingRpc(rpc)
}

/** Code at Multicall3's address stays there, so markets over this RPC check for it only once. */
export function knowingMulticall(rpc: ChainRpc): ChainRpc {
  let seen: Hex = '0x'
  return {
    call: (to, data, blockHash, signal) => rpc.call(to, data, blockHash, signal),
    async code(address, blockHash, signal) {
      if (address !== MULTICALL3) return rpc.code(address, blockHash, signal)
      if (seen === '0x') seen = await rpc.code(address, blockHash, signal)
      return seen
    },
  }
}

class BatchingRpc implements ChainRpc {
  readonly #rpc: ChainRpc
  readonly #waiting = new Map<Hex, Waiting[]>()
  /** Calls of a signal that have not been answered. */
  readonly #pending = new WeakMap<AbortSignal, Set<Waiting['reject']>>()
  #isThere = false
  #lookIn = 0

  constructor(rpc: ChainRpc) {
    this.#rpc = rpc
  }

  code(address: Hex, blockHash: Hex, signal?: AbortSignal): Promise<Hex> {
    return this.#rpc.code(address, blockHash, signal)
  }

  call(to: Hex, data: Hex, blockHash: Hex, signal?: AbortSignal): Promise<Hex | null> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    return new Promise<Hex | null>((resolve, reject) => {
      const asked = signal === undefined ? { resolve, reject } : this.#untilAborted(signal, resolve, reject)
      const waiting = this.#waiting.get(blockHash)
      if (waiting !== undefined) {
        waiting.push({ to, data, ...asked })
        return
      }
      this.#waiting.set(blockHash, [{ to, data, ...asked }])
      // Runs after every call queued in this turn.
      setImmediate(() => void this.#flush(blockHash))
    })
  }

  /**
   * One listener for all calls of a signal: a look-up has a thousand calls, and adding a listener scans all earlier
   * ones.
   */
  #untilAborted(
    signal: AbortSignal,
    resolve: Waiting['resolve'],
    reject: Waiting['reject'],
  ): Pick<Waiting, 'resolve' | 'reject'> {
    const pending = this.#pending.get(signal) ?? new Set()
    if (!this.#pending.has(signal)) {
      this.#pending.set(signal, pending)
      signal.addEventListener(
        'abort',
        () => {
          for (const abort of pending) abort(signal.reason)
        },
        { once: true },
      )
    }
    pending.add(reject)
    return {
      resolve: answer => {
        pending.delete(reject)
        resolve(answer)
      },
      reject: failure => {
        pending.delete(reject)
        reject(failure)
      },
    }
  }

  async #flush(blockHash: Hex): Promise<void> {
    const waiting = this.#waiting.get(blockHash) ?? []
    this.#waiting.delete(blockHash)
    const chunks = Array.from({ length: Math.ceil(waiting.length / BATCH) }, (_, at) =>
      waiting.slice(at * BATCH, (at + 1) * BATCH),
    )
    try {
      const isTogether = waiting.length > 1 && (await this.#stands(blockHash))
      await Promise.all(
        chunks.map(chunk =>
          isTogether && chunk.length > 1 ? this.#together(chunk, blockHash) : this.#alone(chunk, blockHash),
        ),
      )
    } catch (failure) {
      // Has no effect on calls that are already answered.
      for (const { reject } of waiting) reject(failure)
    }
  }

  async #together(chunk: readonly Waiting[], blockHash: Hex): Promise<void> {
    const answer = await this.#rpc.call(MULTICALL3, encodeAggregate(chunk), blockHash)
    const results = answer === null ? null : decodeAggregate(answer, chunk.length)
    if (results === null) return this.#alone(chunk, blockHash)
    const failed = chunk.filter((_, at) => results[at]?.success !== true)
    for (const [at, { resolve }] of chunk.entries()) {
      const result = results[at]
      if (result?.success === true) resolve(result.returnData)
    }
    await this.#alone(failed, blockHash)
  }

  async #alone(chunk: readonly Waiting[], blockHash: Hex): Promise<void> {
    await Promise.all(
      chunk.map(({ to, data, resolve, reject }) =>
        this.#rpc.call(to, data, blockHash).then(resolve, (failure: unknown) => reject(failure)),
      ),
    )
  }

  async #stands(blockHash: Hex): Promise<boolean> {
    if (this.#isThere) return true
    if (this.#lookIn-- > 0) return false
    this.#lookIn = LOOK_AGAIN
    this.#isThere = (await this.#rpc.code(MULTICALL3, blockHash)) !== '0x'
    return this.#isThere
  }
}
