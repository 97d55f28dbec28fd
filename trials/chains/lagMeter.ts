/** Measures, for each chain, the time from a block's announcement to its swaps at a subscriber, and notes lost feeds. */
import { openStream, type StreamTarget } from '../load/streamSocket.ts'
import { Heads } from '../load/witness.ts'
import type { Served } from './node.ts'

/** The keys of a record have a fixed order. */
const CHAIN = /^\{"stream_sequence":\d+,"routing":\{"chain_id":(\d+)/
const SWAP = /"type":"SWAP_OBSERVED".*"block_hash":"(0x[0-9a-f]{64})"/
const LOST = /"type":"FEED_HEALTH".*"status":"(GAP|UNAVAILABLE)"/
/** All of that is within this many bytes. */
const LOOKED_AT = 1024

export class LagMeter {
  readonly faults: string[] = []
  readonly #heads: Heads
  readonly #latenciesMs = new Map<number, number[]>()
  #records = 0
  #isOver = false
  #end: () => void = () => undefined

  static async open(target: StreamTarget, chains: readonly Served[]): Promise<LagMeter> {
    const meter = new LagMeter(new Heads(chains.map(({ url }) => ({ wsUrl: url.replace(/^http/, 'ws') }))))
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

  private constructor(heads: Heads) {
    this.#heads = heads
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
    this.#heads.close()
    this.#end()
  }

  #take(envelope: string): void {
    this.#records += 1
    const chainId = Number(CHAIN.exec(envelope)?.[1])
    const lost = LOST.exec(envelope)
    if (lost !== null) this.faults.push(`chain ${chainId} was ${lost[1]}`)
    const announcedMs = this.#heads.announcedMs(SWAP.exec(envelope)?.[1] ?? '')
    if (announcedMs === undefined) return
    const latencies = this.#latenciesMs.get(chainId) ?? []
    if (latencies.length === 0) this.#latenciesMs.set(chainId, latencies)
    latencies.push(performance.now() - announcedMs)
  }
}
