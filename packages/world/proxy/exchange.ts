/** One call and the faults applied to it: which node is called, how the answer is changed, and how it is delivered. */
import type { ServerResponse } from 'node:http'
import type { Random } from '../random.ts'
import { answerBehind } from './behind.ts'
import { logRangeOf } from './logRange.ts'
import type { Fault, RpcAnswer, RpcCall, RpcFailure } from './rule.ts'

/** How an answer is delivered, unless it is simply sent whole. */
export type Delivery = Extract<Fault, { kind: 'drop' | 'status' | 'truncate' | 'hang' | 'drip' | 'body' }>

/** `answer` is null when the delivery needs none, or when another call has answered. */
export type Outcome = { readonly answer: RpcAnswer | null; readonly delivery: Delivery | 'handled' | null }

export type Ask = (call: RpcCall) => Promise<RpcAnswer>

export type Node = {
  /** Calls the node that this connection leads to. */
  readonly ask: Ask
  /** Calls another node. */
  readonly askAt: (url: string, call: RpcCall) => Promise<RpcAnswer>
  readonly answers: AnswerBook | null
  readonly random: Random
  readonly signal: AbortSignal
  readonly response: ServerResponse | null
}

export async function exchange(call: RpcCall, faults: readonly Fault[], node: Node): Promise<Outcome> {
  let asked = call
  let answer: RpcAnswer | null = null
  let delivery: Delivery | null = null
  let ask = node.ask
  const fetchAnswer = async (): Promise<RpcAnswer> => {
    const fresh = await ask(asked)
    if (ask === node.ask) node.answers?.note(asked, fresh)
    return fresh
  }
  for (const fault of faults) {
    switch (fault.kind) {
      case 'delay':
        await pause(drawn(fault.ms, node.random), node.signal)
        break
      case 'wait':
        await fault.until(call)
        break
      case 'node':
        ask = other => node.askAt(fault.url, other)
        break
      case 'tags':
        asked = retagged(asked, fault.tags)
        if (asked.params[0] === null) answer = { result: null }
        break
      case 'error':
        answer = { error: failureOf(fault) }
        break
      case 'refuse':
        if (node.response === null && call.method !== 'connect')
          return { answer: { error: failureOf(fault) }, delivery: null }
        return { answer: null, delivery: statusOf(fault) }
      case 'logRange':
        if (call.method === 'eth_getLogs' && (await logRangeOf(asked, ask)) > fault.most)
          answer = { error: failureOf(fault) }
        break
      case 'behind': {
        const ahead = ask
        ask = other => answerBehind(other, fault.blocks, ahead)
        break
      }
      case 'replay':
        answer = node.answers?.recall(asked, fault.which) ?? answer
        break
      case 'change':
        answer ??= await fetchAnswer()
        if (answer.error === undefined) answer = { result: fault.change(answer.result, call, node.random) }
        break
      case 'removed':
        answer ??= await fetchAnswer()
        if (answer.error === undefined) answer = { result: markRemoved(answer.result) }
        break
      case 'handle': {
        const before = answer
        const handled = await fault.handle(
          call,
          () => (before === null ? fetchAnswer() : Promise.resolve(before)),
          node.response,
        )
        if (handled === 'handled') return { answer: null, delivery: 'handled' }
        answer = handled
        break
      }
      case 'drop':
      case 'status':
      case 'truncate':
      case 'hang':
      case 'drip':
      case 'body':
        delivery = fault
    }
  }
  if (answer === null && needsAnswer(delivery)) answer = await fetchAnswer()
  return { answer, delivery }
}

const needsAnswer = (delivery: Delivery | null): boolean =>
  delivery === null || delivery.kind === 'truncate' || delivery.kind === 'drip'

const failureOf = ({ code, message, data }: RpcFailure): RpcFailure =>
  data === undefined ? { code, message } : { code, message, data }

const statusOf = ({ status, headers, body, ...failure }: Extract<Fault, { kind: 'refuse' }>): Delivery => ({
  kind: 'status',
  status,
  headers: { 'content-type': body === undefined ? 'application/json' : 'text/html', ...headers },
  body: body ?? JSON.stringify({ jsonrpc: '2.0', id: null, error: failureOf(failure) }),
})

/** Enough for the calls of several thousand blocks; the oldest are evicted first. */
const MOST_ANSWERS = 10_000

/** The node's answers by call, so that they can be replayed when they are no longer true. */
export class AnswerBook {
  readonly #answers = new Map<string, { readonly first: RpcAnswer; previous: RpcAnswer; last: RpcAnswer }>()

  note(call: RpcCall, answer: RpcAnswer): void {
    const key = keyOf(call)
    const known = this.#answers.get(key)
    if (known !== undefined) {
      known.previous = known.last
      known.last = answer
      return
    }
    this.#answers.set(key, { first: answer, previous: answer, last: answer })
    if (this.#answers.size <= MOST_ANSWERS) return
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest)
      return
    }
  }

  recall(call: RpcCall, which: 'first' | 'previous'): RpcAnswer | null {
    return this.#answers.get(keyOf(call))?.[which] ?? null
  }
}

const keyOf = ({ method, params }: RpcCall): string => `${method} ${JSON.stringify(params)}`

function retagged(call: RpcCall, tags: Extract<Fault, { kind: 'tags' }>['tags']): RpcCall {
  const [first, ...rest] = call.params
  if (typeof first !== 'string' || !Object.hasOwn(tags, first)) return call
  const to = tags[first] as number | string | null
  return { ...call, params: [typeof to === 'number' ? `0x${to.toString(16)}` : to, ...rest] }
}

/** In a list of logs, a list of receipts, a receipt or a log. */
function markRemoved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(markRemoved)
  if (typeof value !== 'object' || value === null) return value
  if ('logs' in value) return { ...value, logs: markRemoved(value.logs) }
  return 'topics' in value ? { ...value, removed: true } : value
}

const drawn = (ms: number | readonly [number, number], random: Random): number =>
  typeof ms === 'number' ? ms : random.integer(ms[0], ms[1])

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    if (signal.aborted) done()
    else signal.addEventListener('abort', done, { once: true })
  })
}
