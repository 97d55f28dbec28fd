/**
 * A JSON-RPC server between a feed and a node that lies where a test asks it to. A rule sees the call and
 * the node's answer and returns what the feed is to get.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type RpcCall = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
export type RpcAnswer = { readonly result?: unknown; readonly error?: { code: number; message: string } }

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
  const calls: RpcCall[] = []
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString()
    const call = JSON.parse(body) as RpcCall
    calls.push(call)
    const fetchAnswer = async (): Promise<RpcAnswer> => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(nodeUrl, { method: 'POST', headers, body })).json() as Promise<RpcAnswer>
    }
    const answer = await proxy.rule(call, fetchAnswer, response)
    if (answer === 'handled') return
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', ...answer, id: call.id }))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    rule,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
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
