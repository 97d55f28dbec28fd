/** Measures, for each chain, the time from a block's announcement to its swaps at a subscriber, and notes lost feeds. */
import { openStream, type StreamTarget } from '../load/streamSocket.ts'
import type { Served } from './node.ts'

/** The keys of a record have a fixed order. */
const CHAIN = /^\{"stream_sequence":\d+,"routing":\{"chain_id":(\d+)/
const SWAP = /"type":"SWAP_OBSERVED".*"block_hash":"(0x[0-9a-f]{64})"/
const LOST = /"type":"FEED_HEALTH".*"status":"(GAP|UNAVAILABLE)"/
/** All of that is within this many bytes. */
const LOOKED_AT = 1024

export class LagMeter {
  readonly faults: string[] = []
  readonly #announcedMs = new Map<string, number>()
  readonly #latenciesMs = new Map<number, number[]>()
  #records = 0
  #isOver = false
  #nodes: readonly WebSocket[] = []
  #end: () => void = () => undefined

  static async open(target: StreamTarget, chains: readonly Served[]): Promise<LagMeter> {
    const meter = new LagMeter()
    meter.#nodes = chains.map(({ url }) => meter.#followHeads(url))
    const socket = await openStream(target, {
      most: LOOKED_AT,
      onRecord: (_, envelope) => meter.#take(envelope.toString('latin1')),
      onFault: fault => {
        if (!meter.#isOver) meter.faults.push(`the subscriber: ${fault}`)
      },
    })
    if (socket === 'turnedAway') throw new Error('the subscriber was turned away')
    meter.#end = () => socket.destroy()
    return meter
  }

  /** Forgets what was measured so far. */
  begin(): void {
    this.#latenciesMs.clear()
    this.#records = 0
  }

  get records(): number {
    return this.#records
  }

  /** One for each swap of a block whose announcement arrived. */
  latenciesMs(chainId: number): readonly number[] {
    return this.#latenciesMs.get(chainId) ?? []
  }

  close(): void {
    this.#isOver = true
    for (const node of this.#nodes) node.close()
    this.#end()
  }

  /** Over a connection independent of the service. */
  #followHeads(url: string): WebSocket {
    const socket = new WebSocket(url.replace(/^http/, 'ws'))
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
    )
    socket.addEventListener('message', ({ data }) => {
      const { params } = JSON.parse(String(data)) as { params?: { result: { hash: string } } }
      if (params !== undefined) this.#announcedMs.set(params.result.hash, performance.now())
    })
    return socket
  }

  #take(envelope: string): void {
    this.#records += 1
    const chainId = Number(CHAIN.exec(envelope)?.[1])
    const lost = LOST.exec(envelope)
    if (lost !== null) this.faults.push(`chain ${chainId} was ${lost[1]}`)
    const announcedMs = this.#announcedMs.get(SWAP.exec(envelope)?.[1] ?? '')
    if (announcedMs === undefined) return
    const latencies = this.#latenciesMs.get(chainId) ?? []
    if (latencies.length === 0) this.#latenciesMs.set(chainId, latencies)
    latencies.push(performance.now() - announcedMs)
  }
}
