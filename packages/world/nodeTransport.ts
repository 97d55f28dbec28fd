/**
 * viem's calls to a local node over persistent connections, with all calls of one turn in one request. viem's own
 * transport creates an error, a request object and a web stream for every call, and the world makes thousands of
 * calls while a user waits.
 */
import { Agent, type IncomingMessage, request } from 'node:http'
import { type CustomTransport, custom, HttpRequestError, RpcRequestError, TimeoutError } from 'viem'

type Call = { readonly method: string; readonly params?: unknown }
type Answer = {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}
type Waiting = {
  readonly call: Call
  readonly resolve: (result: unknown) => void
  readonly reject: (failure: Error) => void
}

/** The most calls per request. */
const BATCH = 500

export function nodeTransport(url: string, timeoutMs: number): CustomTransport {
  const node = new Node(url, timeoutMs)
  return custom({ request: (call: Call) => node.ask(call) }, { retryCount: 0 })
}

class Node {
  readonly #url: string
  readonly #timeoutMs: number
  readonly #agent = new Agent({ keepAlive: true })
  #waiting: Waiting[] = []

  constructor(url: string, timeoutMs: number) {
    this.#url = url
    this.#timeoutMs = timeoutMs
  }

  ask(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#send())
    })
  }

  #send(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (let at = 0; at < waiting.length; at += BATCH) void this.#settle(waiting.slice(at, at + BATCH))
  }

  async #settle(batch: readonly Waiting[]): Promise<void> {
    const body = batch.map(({ call }, id) => ({ jsonrpc: '2.0', id, ...call }))
    try {
      const answers = JSON.parse(await this.#post(JSON.stringify(body))) as readonly Answer[]
      const byId = new Map(answers.map(answer => [answer.id, answer]))
      for (const [id, { call, resolve, reject }] of batch.entries()) {
        const { error, result } = byId.get(id) ?? { error: NO_ANSWER }
        if (error === undefined) resolve(result)
        else reject(new RpcRequestError({ body: call, error, url: this.#url }))
      }
    } catch (failure) {
      // Calls that already have their answer ignore this.
      for (const { call, reject } of batch) reject(this.#wrapped(failure, call))
    }
  }

  #post(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, answer => {
        read(answer).then(resolve, reject)
      })
      sent.setTimeout(this.#timeoutMs, () => sent.destroy(new TimeoutError({ body: {}, url: this.#url })))
      sent.once('error', failure => {
        // The node closed an idle connection just as it was reused: it read nothing of this request.
        if (sent.reusedSocket && 'code' in failure && failure.code === 'ECONNRESET')
          this.#post(text).then(resolve, reject)
        else reject(failure)
      })
      sent.end(text)
    })
  }

  #wrapped(failure: unknown, call: Call): Error {
    if (failure instanceof TimeoutError) return new TimeoutError({ body: call, url: this.#url })
    return new HttpRequestError({ body: call, cause: failure as Error, url: this.#url })
  }
}

const NO_ANSWER = { code: -32_603, message: 'the node left this call of a batch unanswered' }

async function read(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
