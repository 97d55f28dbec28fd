/**
 * The fault proxy with a single rule that a test puts in place as a function: it sees the call and the node's
 * answer and returns what the feed is to get.
 */
import type { ServerResponse } from 'node:http'
import { startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { RpcAnswer, RpcCall as AnyCall } from '../../../world/proxy/rule.ts'

export type RpcCall = AnyCall & { readonly id: number }

/** An answer, or a whole HTTP response of the test's own making. */
export type Rule = (
  call: RpcCall,
  fetchAnswer: () => Promise<RpcAnswer>,
  response: ServerResponse,
) => Promise<RpcAnswer | 'handled'> | RpcAnswer | 'handled'

export type RpcProxy = {
  readonly url: string
  readonly calls: RpcCall[]
  rule: Rule
  close(): Promise<void>
}

export const pass: Rule = (_call, fetchAnswer) => fetchAnswer()

export async function startRpcProxy(nodeUrl: string, rule: Rule = pass): Promise<RpcProxy> {
  const faults = await startFaultProxy({ url: nodeUrl })
  const proxy: RpcProxy = {
    url: faults.url,
    calls: faults.calls as RpcCall[],
    rule,
    close: () => faults.close(),
  }
  faults.add({
    fault: {
      kind: 'handle',
      handle: (call, fetchAnswer, response) =>
        proxy.rule(call as RpcCall, fetchAnswer, response as ServerResponse),
    },
  })
  return proxy
}

/** Changes the result of one method and leaves the others alone. */
export const changing =
  <Result>(method: string, change: (result: Result, call: RpcCall) => unknown): Rule =>
  async (call, fetchAnswer) => {
    const answer = await fetchAnswer()
    return call.method === method ? { result: change(answer.result as Result, call) } : answer
  }

/** Answers as a node that does not have these methods. */
export const without =
  (...methods: readonly string[]): Rule =>
  (call, fetchAnswer) =>
    methods.includes(call.method) ? { error: { code: -32601, message: 'Method not found' } } : fetchAnswer()
