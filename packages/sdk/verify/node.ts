/**
 * The caller's own node, through JSON-RPC over HTTP or through a transport that the caller provides; works in a
 * browser.
 */

/** Answers with the `result`; throws for an error. */
export type Transport = (method: string, params: readonly unknown[]) => Promise<unknown>

const TIMEOUT_MS = 15_000

/** The node did not answer, or gave an unexpected answer. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
}

export class Node {
  readonly #transport: Transport
  readonly #known = new Map<string, Promise<unknown>>()

  constructor(rpc: string | Transport, signal?: AbortSignal) {
    this.#transport = typeof rpc === 'string' ? httpTransport(rpc, signal) : rpc
  }

  /** Caches every answer: blocks are named by hash and do not change. */
  async ask<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const key = JSON.stringify([method, params])
    const known = this.#known.get(key) ?? this.#transport(method, params)
    this.#known.set(key, known)
    return (await known.catch((cause: unknown) => {
      throw cause instanceof NodeError ? cause : new NodeError(`${method}: ${String(cause)}`, { cause })
    })) as Result
  }

  /** The words a contract returns at a block; throws if it returns nothing. */
  async call(to: string, data: string, blockHash: string): Promise<Words> {
    const answer = await this.ask<unknown>('eth_call', { to, data }, { blockHash })
    if (typeof answer !== 'string' || answer.length < 66 || (answer.length - 2) % 64 !== 0)
      throw new NodeError(`${to} does not answer ${data.slice(0, 10)}`)
    return new Words(answer)
  }
}

/** ABI words decoded by hand: 32 bytes of hex each. */
export class Words {
  readonly #data: string

  constructor(data: string) {
    this.#data = data
  }

  uint(at: number): bigint {
    const word = this.#data.slice(2 + 64 * at, 66 + 64 * at)
    if (!/^[0-9a-fA-F]{64}$/.test(word)) throw new NodeError(`word ${at} of an answer is missing`)
    return BigInt(`0x${word}`)
  }

  int(at: number): bigint {
    return BigInt.asIntN(256, this.uint(at))
  }

  address(at: number): string {
    return `0x${this.uint(at).toString(16).padStart(40, '0')}`
  }
}

export const word = (value: bigint | string): string =>
  (typeof value === 'string'
    ? value.slice(2).toLowerCase()
    : BigInt.asUintN(256, value).toString(16)
  ).padStart(64, '0')

function httpTransport(url: string, signal: AbortSignal | undefined): Transport {
  let id = 0
  return async (method, params) => {
    const deadline = AbortSignal.timeout(TIMEOUT_MS)
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    }).catch((cause: unknown) => {
      signal?.throwIfAborted()
      throw new NodeError(`the node does not answer ${method}`, { cause })
    })
    const body = (await answer.json().catch(() => null)) as {
      result?: unknown
      error?: { message?: string }
    } | null
    if (body === null || !('result' in body))
      throw new NodeError(`${method}: ${(body?.error?.message ?? `HTTP ${answer.status}`).slice(0, 200)}`)
    return body.result
  }
}
