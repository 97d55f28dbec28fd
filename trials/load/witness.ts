/**
 * Measures the time from a node's announcement of a block to its swaps at a subscriber. The witness connects last, so
 * that all other subscribers are written to before it; its process is not niced.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { openStream, type StreamTarget } from './streamSocket.ts'

/** The keys of a record have a fixed order. */
const SWAP =
  /^\{"stream_sequence":\d+,"routing":\{"chain_id":(\d+).*"type":"SWAP_OBSERVED".*"block_number":(\d+),"block_hash":"(0x[0-9a-f]{64})"/
/** All of that is within this many bytes. */
const LOOKED_AT = 1024
const FIRST_HEAD_MS = 20_000

/** Announcements of all chains, over connections independent of the service. */
export class Heads {
  readonly #announcedMs = new Map<string, number>()
  readonly #sockets: WebSocket[]

  constructor(chains: readonly { readonly wsUrl: string }[]) {
    this.#sockets = chains.map(({ wsUrl }) => {
      const socket = new WebSocket(wsUrl)
      socket.addEventListener('open', () =>
        socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })),
      )
      socket.addEventListener('message', ({ data }) => {
        const { params } = JSON.parse(String(data)) as { params?: { result: { hash: string } } }
        if (params !== undefined) this.#announcedMs.set(params.result.hash, performance.now())
      })
      return socket
    })
  }

  announcedMs(hash: string): number | undefined {
    return this.#announcedMs.get(hash)
  }

  close(): void {
    for (const socket of this.#sockets) socket.close()
  }
}

export type Seen = {
  readonly records: number
  readonly swaps: number
  /** One for each swap of a block whose announcement was received. */
  readonly latenciesMs: readonly number[]
}

export class Witness {
  readonly faults: string[] = []
  readonly #heads: Heads
  /** The newest block of each chain with a received swap. */
  readonly #heights = new Map<number, number>()
  #records = 0
  #swaps = 0
  #latenciesMs: number[] = []
  #isOver = false
  #end: () => void = () => undefined

  private constructor(heads: Heads) {
    this.#heads = heads
  }

  /** Resolves with the first record. */
  static async open(target: StreamTarget, heads: Heads): Promise<Witness> {
    const witness = new Witness(heads)
    const socket = await openStream(target, {
      most: LOOKED_AT,
      onRecord: (_, envelope) => witness.#take(envelope),
      onFault: fault => {
        if (!witness.#isOver) witness.faults.push(`witness: ${fault}`)
      },
    })
    if (socket === 'turnedAway') throw new Error('the witness was turned away')
    witness.#end = () => socket.destroy()
    for (let waitedMs = 0; witness.#records === 0; waitedMs += 100) {
      if (waitedMs > FIRST_HEAD_MS) throw new Error('no record reached the witness')
      await pause(100)
    }
    return witness
  }

  /** Everything received since the last call. */
  take(): Seen {
    const seen = { records: this.#records, swaps: this.#swaps, latenciesMs: this.#latenciesMs }
    this.#records = 0
    this.#swaps = 0
    this.#latenciesMs = []
    return seen
  }

  close(): void {
    this.#isOver = true
    this.#end()
  }

  heightOf(chainId: number): number {
    return this.#heights.get(chainId) ?? 0
  }

  #take(envelope: Buffer): void {
    this.#records += 1
    const swap = SWAP.exec(envelope.toString('latin1'))
    if (swap === null) return
    this.#swaps += 1
    const [, chainId, height, hash] = swap
    this.#heights.set(Number(chainId), Number(height))
    const announcedMs = this.#heads.announcedMs(hash as string)
    if (announcedMs !== undefined) this.#latenciesMs.push(performance.now() - announcedMs)
  }
}
