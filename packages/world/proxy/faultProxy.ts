/**
 * A JSON-RPC proxy that lies on request, over HTTP and WebSocket, in front of a node.
 *
 *     const proxy = await startFaultProxy({ url: anvil.url, seed: 7 })
 *     const rule = proxy.add({ method: 'eth_getLogs', nth: [1, 3], fault: { kind: 'change', change: () => [] } })
 *     …                    // proxy.url returns no logs three times
 *     rule.fired()         // 3
 *     proxy.clear()        // an honest proxy again
 *     await proxy.close()
 *
 * Without a rule it is transparent. With the same seed, rules and order of calls it does the same.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { Random } from '../random.ts'
import { AnswerBook, type Ask, exchange, type Outcome } from './exchange.ts'
import { answerRequest } from './httpSide.ts'
import { type ActiveRule, isCall, type Rule, type RpcAnswer, type RpcCall, RuleBook } from './rule.ts'
import { SocketSide } from './socketSide.ts'

export type FaultProxy = {
  readonly url: string
  readonly wsUrl: string
  /** Every call received, with each entry of a batch counted separately, oldest first; a test may empty it. */
  readonly calls: RpcCall[]
  readonly add: (rule: Rule) => ActiveRule
  /** Takes away all rules. */
  readonly clear: () => void
  /**
   * Sends a notification of its own to the subscriptions of a kind, such as a removed log to `logs`; returns their
   * number.
   */
  readonly push: (kind: string, result: unknown) => number
  /** Ends every connection; new ones are accepted. */
  readonly cut: () => void
  /** HTTP requests in progress: held back, dripped, or hung and not yet abandoned by the client. */
  readonly underWay: () => number
  /** Bytes sent over all connections, ended ones included. */
  readonly sentBytes: () => number
  /** Calling it twice is harmless. */
  readonly close: () => Promise<void>
}

export type FaultProxyOptions = {
  /** The URL of the node, over HTTP; its WebSocket is expected at the same address. */
  readonly url: string
  readonly seed?: number
  readonly rules?: readonly Rule[]
  /** False for a proxy that runs for days: it then keeps neither calls nor answers, and cannot replay. */
  readonly isRecording?: boolean
  /** The clock of rate limits, in milliseconds; omitted, the machine's. */
  readonly nowMs?: () => number
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { isRecording = true } = options
  const random = new Random(options.seed ?? 1, 'fault proxy')
  const book = new RuleBook(random, options.nowMs)
  for (const rule of options.rules ?? []) book.add(rule)
  const answers = isRecording ? new AnswerBook() : null
  const abort = new AbortController()
  const calls: RpcCall[] = []
  const sockets = new Set<Socket>()
  const responses = new Set<ServerResponse>()
  const sides = new Set<SocketSide>()
  let endedBytes = 0

  const askHttp: Ask = call => askAt(options.url, call)
  const handle = (
    request: readonly RpcCall[],
    ask: Ask,
    response: ServerResponse | null,
  ): Promise<readonly Outcome[]> => {
    if (isRecording) calls.push(...request.filter(isCall))
    const node = { ask, askAt, answers, random, signal: abort.signal, response }
    const faults = book.faultsFor(request)
    return Promise.all(request.map((call, at) => exchange(call, faults[at] ?? [], node)))
  }

  const server = createServer((request, response) => {
    responses.add(response)
    response.on('close', () => responses.delete(response))
    answerRequest(request, response, each => handle(each, askHttp, response), abort.signal).catch(() =>
      response.destroy(),
    )
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      endedBytes += socket.bytesWritten
    })
  })
  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 1 << 30 })
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const call = { id: null, method: 'connect', params: [] }
    const [outcome] = await handle([call], () => Promise.resolve({ result: null }), null)
    const delivery = outcome?.delivery ?? null
    if (delivery !== null && delivery !== 'handled') {
      if (delivery.kind === 'status') socket.end(`HTTP/1.1 ${delivery.status} refused\r\n\r\n`)
      else if (delivery.kind !== 'hang') socket.destroy()
      return
    }
    upgrades.handleUpgrade(request, socket, head, near => {
      near.on('error', () => near.terminate())
      const nodeUrl = options.url.replace(/^http/, 'ws')
      SocketSide.open(near, nodeUrl, (each, ask) => handle(each, ask, null), abort.signal).then(
        side => {
          sides.add(side)
          near.on('close', () => sides.delete(side))
        },
        () => near.terminate(),
      )
    })
  }
  server.on('upgrade', (request, socket, head) => {
    upgrade(request, socket, head).catch(() => socket.destroy())
  })

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = (): void => {
    for (const side of sides) side.terminate()
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    calls,
    add: rule => book.add(rule),
    clear: () => book.clear(),
    push: (kind, result) => [...sides].reduce((sum, side) => sum + side.push(kind, result), 0),
    cut,
    underWay: () => responses.size,
    sentBytes: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, endedBytes),
    close: async () => {
      if (abort.signal.aborted) return
      abort.abort()
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}

async function askAt(url: string, { method, params }: RpcCall): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as RpcAnswer
  return error === undefined ? { result } : { error }
}
