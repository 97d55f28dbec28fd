/**
 * Rules of the fault proxy: which calls they meet and what happens to them. Rules are tried in the order they were
 * added and all that meet a call act on it, one after the other; what is random comes from the proxy's seed.
 */
import type { ServerResponse } from 'node:http'
import type { Random } from '../random.ts'

export type RpcCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }
export type RpcFailure = { readonly code: number; readonly message: string; readonly data?: unknown }
export type RpcAnswer = { readonly result?: unknown; readonly error?: RpcFailure }

export type Rule = {
  /**
   * Left out, every call. Two are not of JSON-RPC: `connect` is a WebSocket's upgrade, `eth_subscription` what the
   * node pushes, with the kind of the subscription as its only parameter.
   */
  readonly method?: string | readonly string[]
  readonly params?: (params: readonly unknown[]) => boolean
  /** Which of the calls it meets, counted from 1: one of them, or from one to another. Left out, all. */
  readonly nth?: number | readonly [from: number, to: number]
  /** With this probability. */
  readonly chance?: number
  readonly fault: Fault
}

export type Fault =
  /** Later by this, or by something between. */
  | { readonly kind: 'delay'; readonly ms: number | readonly [least: number, greatest: number] }
  /** Only after this is done: a reorganisation, a gate that a test opens. */
  | { readonly kind: 'wait'; readonly until: (call: RpcCall) => Promise<unknown> }
  /** The connection is cut instead of an answer; of a pushed message, it is lost. */
  | { readonly kind: 'drop' }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  | ({ readonly kind: 'error' } & RpcFailure)
  /** Only this share of the body arrives; the connection is cut then, or the answer ends as if it were whole. */
  | { readonly kind: 'truncate'; readonly share: number; readonly isClean?: boolean }
  | {
      readonly kind: 'change'
      readonly change: (result: unknown, call: RpcCall, random: Random) => unknown
    }
  /** The first answer the node ever gave to this very call, or the one before its last. */
  | { readonly kind: 'replay'; readonly which: 'first' | 'previous' }
  /** From another node, by its HTTP address. */
  | { readonly kind: 'node'; readonly url: string }
  /** Another block for a tag: a number, another tag, or null for none. */
  | { readonly kind: 'tags'; readonly tags: Readonly<Record<string, number | string | null>> }
  /** Every log in the answer is marked as removed. */
  | { readonly kind: 'removed' }
  /** No answer at all, or none after the headers; the connection stays open. */
  | { readonly kind: 'hang'; readonly after: 'request' | 'headers' }
  /** The answer comes, so many bytes at a time. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Any text in place of an answer, as often as wanted. */
  | { readonly kind: 'body'; readonly body: string; readonly repeat?: number }
  /** Whatever else: an answer, or over HTTP a response of its own making. */
  | { readonly kind: 'handle'; readonly handle: Handle }

export type Handle = (
  call: RpcCall,
  fetchAnswer: () => Promise<RpcAnswer>,
  response: ServerResponse | null,
) => Promise<RpcAnswer | 'handled'> | RpcAnswer | 'handled'

export type ActiveRule = {
  /** Calls it acted on. */
  readonly fired: () => number
  readonly remove: () => void
}

type Entry = { readonly rule: Rule; met: number; fired: number }

export class RuleBook {
  readonly #random: Random
  readonly #entries = new Set<Entry>()

  constructor(random: Random) {
    this.#random = random
  }

  add(rule: Rule): ActiveRule {
    const entry: Entry = { rule, met: 0, fired: 0 }
    this.#entries.add(entry)
    return { fired: () => entry.fired, remove: () => void this.#entries.delete(entry) }
  }

  clear(): void {
    this.#entries.clear()
  }

  /** What is to happen to this call, in order. */
  faultsFor(call: RpcCall): readonly Fault[] {
    const faults: Fault[] = []
    for (const entry of this.#entries) {
      if (!meets(entry.rule, call)) continue
      entry.met++
      if (!isTurn(entry.rule.nth, entry.met)) continue
      const { chance } = entry.rule
      if (chance !== undefined && this.#random.uint32() >= chance * 2 ** 32) continue
      entry.fired++
      faults.push(entry.rule.fault)
    }
    return faults
  }
}

function meets({ method, params }: Rule, call: RpcCall): boolean {
  const isMethod =
    method === undefined ||
    (typeof method === 'string' ? method === call.method : method.includes(call.method))
  return isMethod && (params === undefined || params(call.params))
}

function isTurn(nth: Rule['nth'], met: number): boolean {
  if (nth === undefined) return true
  return typeof nth === 'number' ? met === nth : met >= nth[0] && met <= nth[1]
}
