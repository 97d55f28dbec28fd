/**
 * Rules of the fault proxy: which calls they match and what happens to them. Rules are tried in the order they were
 * added, and all that match a call act on it, one after the other; random choices come from the proxy's seed.
 */
import type { ServerResponse } from 'node:http'
import type { Random } from '../random.ts'
import { type Rate, TokenBucket } from './tokenBucket.ts'

export type RpcCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }
export type RpcFailure = { readonly code: number; readonly message: string; readonly data?: unknown }
export type RpcAnswer = { readonly result?: unknown; readonly error?: RpcFailure }

export type Rule = {
  /**
   * Omitted, every call. Two names are not JSON-RPC: `connect` is a WebSocket's upgrade, `eth_subscription` a message
   * pushed by the node, with the kind of the subscription as its only parameter.
   */
  readonly method?: string | readonly string[]
  readonly params?: (params: readonly unknown[]) => boolean
  /** Which of the matching calls, counted from 1: a single one, or a range. Omitted, all. */
  readonly nth?: number | readonly [from: number, to: number]
  /** With this probability. */
  readonly chance?: number
  /** Acts at most once per request: a network drops requests, not single batch entries. Omitted, once per entry. */
  readonly isPerRequest?: boolean
  /**
   * Acts only on calls above this rate. All connections share the rate, each batch entry counts as a call, and a
   * request that exceeds it is affected as a whole. Pushed messages and new connections do not count.
   */
  readonly beyond?: Rate
  readonly fault: Fault
}

type Headers = Readonly<Record<string, string>>

export type Fault =
  /** Delays by this, or by a random time in the range. */
  | { readonly kind: 'delay'; readonly ms: number | readonly [least: number, greatest: number] }
  /** Waits for this promise, such as a reorganisation or a gate that a test opens. */
  | { readonly kind: 'wait'; readonly until: (call: RpcCall) => Promise<unknown> }
  /** Cuts the connection instead of answering; a pushed message is lost. */
  | { readonly kind: 'drop' }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Headers
      readonly body?: string
    }
  | ({ readonly kind: 'error' } & RpcFailure)
  /** Ends the call: over HTTP with this status and body (omitted, the error as JSON), over WebSocket with the error. */
  | ({
      readonly kind: 'refuse'
      readonly status: number
      readonly headers?: Headers
      readonly body?: string
    } & RpcFailure)
  /** Returns the error for an `eth_getLogs` that covers more blocks than this. */
  | ({ readonly kind: 'logRange'; readonly most: number } & RpcFailure)
  /** Answers like a node that has not seen the newest blocks yet. */
  | { readonly kind: 'behind'; readonly blocks: number }
  /** Only this share of the body arrives; then the connection is cut, or the answer ends as if it were complete. */
  | { readonly kind: 'truncate'; readonly share: number; readonly isClean?: boolean }
  | {
      readonly kind: 'change'
      readonly change: (result: unknown, call: RpcCall, random: Random) => unknown
    }
  /** The first answer the node ever gave to this very call, or the one before its last. */
  | { readonly kind: 'replay'; readonly which: 'first' | 'previous' }
  /** The answer of another node, by its HTTP address. */
  | { readonly kind: 'node'; readonly url: string }
  /** Another block for a tag: a number, another tag, or null for none. */
  | { readonly kind: 'tags'; readonly tags: Readonly<Record<string, number | string | null>> }
  /** Marks every log in the answer as removed. */
  | { readonly kind: 'removed' }
  /** No answer at all, or none after the headers; the connection stays open. */
  | { readonly kind: 'hang'; readonly after: 'request' | 'headers' }
  /** The answer arrives in portions of this many bytes. */
  | { readonly kind: 'drip'; readonly bytes: number; readonly everyMs: number }
  /** Any text instead of an answer, repeated as often as required. */
  | { readonly kind: 'body'; readonly body: string; readonly repeat?: number }
  /** Anything else: an answer, or over HTTP a custom response. */
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

type Entry = { readonly rule: Rule; readonly bucket: TokenBucket | null; met: number; fired: number }

export class RuleBook {
  readonly #random: Random
  readonly #nowMs: (() => number) | undefined
  readonly #entries = new Set<Entry>()

  /** `nowMs` is the clock of rates; omitted, the machine's. */
  constructor(random: Random, nowMs?: () => number) {
    this.#random = random
    this.#nowMs = nowMs
  }

  add(rule: Rule): ActiveRule {
    const bucket = rule.beyond === undefined ? null : new TokenBucket(rule.beyond, this.#nowMs)
    const entry: Entry = { rule, bucket, met: 0, fired: 0 }
    this.#entries.add(entry)
    return { fired: () => entry.fired, remove: () => void this.#entries.delete(entry) }
  }

  clear(): void {
    this.#entries.clear()
  }

  /** The faults for each call of one request, in the order in which they act. */
  faultsFor(calls: readonly RpcCall[]): readonly (readonly Fault[])[] {
    const faults: Fault[][] = calls.map(() => [])
    for (const entry of this.#entries) {
      const met = calls.flatMap((call, at) => (meets(entry.rule, call) ? [at] : []))
      if (entry.bucket !== null && entry.bucket.take(met.filter(at => isCall(calls[at])).length)) continue
      for (const at of entry.rule.isPerRequest === true ? met.slice(0, 1) : met)
        if (this.#acts(entry)) faults[at]?.push(entry.rule.fault)
    }
    return faults
  }

  #acts(entry: Entry): boolean {
    entry.met++
    const { nth, chance } = entry.rule
    if (!isTurn(nth, entry.met)) return false
    if (chance !== undefined && this.#random.uint32() >= chance * 2 ** 32) return false
    entry.fired++
    return true
  }
}

/** Whether a client sent it; pushed messages and new connections are not calls. */
export const isCall = (call: RpcCall | undefined): boolean =>
  call !== undefined && call.method !== 'eth_subscription' && call.method !== 'connect'

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
