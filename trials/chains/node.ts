/**
 * The node of all recorded chains, as a separate process: HTTP and WebSocket on one port, a path for each chain. It makes
 * the blocks, announces them at the rate of their chain, and does nothing else, so its processor time is that of a node.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Hex } from '../../packages/server/ops/hex.ts'
import { answerCalls } from '../load/part.ts'
import { marketOf, RATES } from './plan.ts'
import { RecordedChain } from './recordedChain.ts'

export type Wanted = {
  /** Of blocks made, from the first announcement on. */
  readonly seconds: number
  /** For the files of receipts. */
  readonly folder: string
}
export type Served = { readonly chainId: number; readonly url: string; readonly genesisHash: Hex }

type Call = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] }

/** The past that exists when the service starts: more than it reads. */
const PAST_S = 360
const SUBSCRIPTION = '0x1'

const listening = new Map<number, Set<WebSocket>>()
const chains = new Map<number, RecordedChain>()

answerCalls({
  /** Makes all blocks; returns their number. */
  make({ seconds, folder }: Wanted): number {
    let blocks = 0
    for (const rate of RATES) {
      const count = Math.ceil((seconds + PAST_S) * rate.blocksPerSecond)
      chains.set(rate.chainId, new RecordedChain(marketOf(rate), join(folder, `${rate.chainId}.json`), count))
      listening.set(rate.chainId, new Set())
      blocks += count
    }
    return blocks
  },

  /** Begins to announce. */
  async start(): Promise<readonly Served[]> {
    const server = createServer((request, response) => {
      answerPost(request, response).catch((failure: unknown) => response.destroy(failure as Error))
    })
    const sockets = new WebSocketServer({ server, perMessageDeflate: false })
    sockets.on('connection', (socket, request) => listen(socket, chainIn(request)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
    const { port } = server.address() as AddressInfo
    for (const [chainId, chain] of chains) keepAnnouncing(chainId, chain)
    return [...chains].map(([chainId, { genesisHash }]) => ({
      chainId,
      url: `http://127.0.0.1:${port}/${chainId}`,
      genesisHash,
    }))
  },
})

function keepAnnouncing(chainId: number, chain: RecordedChain): void {
  const gapMs = 1000 / chain.plan.rate.blocksPerSecond
  const past = Math.ceil((PAST_S * 1000) / gapMs)
  const beganMs = Date.now() - past * gapMs
  let nth = 0
  const announce = () => chain.announce(Math.floor((beganMs + nth++ * gapMs) / 1000))
  while (nth < past) announce()
  const next = (): void => {
    const block = announce()
    if (block === null) return
    const message = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"${SUBSCRIPTION}","result":${block.header}}}`
    for (const socket of listening.get(chainId) ?? []) socket.send(message)
    setTimeout(next, Math.max(0, beganMs + nth * gapMs - Date.now()))
  }
  setTimeout(next, Math.max(0, beganMs + nth * gapMs - Date.now()))
}

function listen(socket: WebSocket, chainId: number): void {
  const listeners = listening.get(chainId) as Set<WebSocket>
  socket.on('error', () => socket.terminate())
  socket.on('close', () => listeners.delete(socket))
  socket.on('message', data => {
    socket.send(
      answerText((data as Buffer).toString(), chainId, ({ params = [] }) => {
        if (params[0] !== 'newHeads') return null
        listeners.add(socket)
        return SUBSCRIPTION
      }),
    )
  })
}

async function answerPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = (await buffer(request)).toString()
  const body = answerText(text, chainIn(request), () => null)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** `subscribe` returns null when there is no such subscription. */
function answerText(text: string, chainId: number, subscribe: (call: Call) => string | null): string {
  const asked = JSON.parse(text) as Call | readonly Call[]
  const one = (call: Call): string => {
    const { id, method, params = [] } = call
    const subscription = method === 'eth_subscribe' ? subscribe(call) : null
    const answer =
      subscription === null
        ? (chains.get(chainId) as RecordedChain).answer(method, params)
        : { json: JSON.stringify(subscription) }
    const rest = 'json' in answer ? `"result":${answer.json}` : `"error":${JSON.stringify(answer.error)}`
    return `{"jsonrpc":"2.0","id":${id},${rest}}`
  }
  return 'id' in asked ? one(asked) : `[${asked.map(one).join()}]`
}

const chainIn = ({ url = '' }: IncomingMessage): number => Number(url.slice(1))
