/**
 * A rolling upgrade with customers: streams, requests and trades continue from the first stage to the last. After
 * each stage the market pauses for a moment, and all records, responses and refusals of the stage are judged.
 */
import * as wire from '@assay/sdk/wire'
import { tolerance } from '../../packages/sdk/testing/conformance.ts'
import { createClient } from '@assay/sdk'
import { ask } from '../../packages/server/endToEnd/testing/answer.ts'
import { CHAIN_ID } from '../../packages/server/endToEnd/testing/plan.ts'
import type { Hex, TestChain } from '../../packages/server/endToEnd/testing/testChain.ts'
import { until } from '../../packages/server/endToEnd/testing/until.ts'
import type { Fleet } from './fleet.ts'
import type { Judge } from './judge.ts'
import { Listener } from './listener.ts'
import { Poller } from './poller.ts'
import { Trading } from './trading.ts'

export type Row = {
  readonly stage: string
  readonly seconds: number
  readonly records: number
  readonly lost: number
  readonly repeated: number
  readonly answered: number
  readonly failed: number
  /** Requests to a writer in the time without one. */
  readonly refused: number
  /** From the end of one writer until every node knows the next; null while the writer stayed. */
  readonly changeSeconds: number | null
  readonly faults: readonly string[]
}

export type Cast = {
  readonly fleet: Fleet
  readonly chain: TestChain
  readonly judge: Judge
  readonly key: string
  readonly pool: Hex
  readonly tokens: readonly Hex[]
  /** The SDK of each version, by the name of its customer. */
  readonly clients: Readonly<Record<string, typeof createClient>>
}

const STORED_MS = 20
const COMPUTED_MS = 200
/** For a feed that fell behind on a busy machine. */
const SETTLE_MS = 20_000

export class Rehearsal {
  readonly #cast: Cast
  readonly #trading: Trading
  readonly #listeners: readonly Listener[]
  readonly #stored: Poller
  readonly #computed: Poller
  readonly #computedPaths: readonly string[]
  #isWriterChanging = false
  #changeSeconds: number | null = null

  private constructor(cast: Cast, trading: Trading) {
    const { fleet, key, pool, tokens, clients } = cast
    this.#cast = cast
    this.#trading = trading
    const nodes = () => fleet.apis()
    this.#listeners = Object.entries(clients).map(([name, create]) => new Listener(name, create, key, nodes))
    const quotes = tokens.map(address => `/v1/quote/token/${CHAIN_ID}/${address}`)
    this.#computedPaths = quotes.map(path => `${path}?max_hops=1&deadline_ms=10000`)
    const quoteFaults = tolerance(wire.EvaluatedQuote)
    this.#stored = new Poller({
      key,
      nodes,
      everyMs: STORED_MS,
      paths: [
        ...quotes.map(path => ({ path, faultsOf: quoteFaults })),
        { path: `/v1/pools?chain_id=${CHAIN_ID}`, faultsOf: tolerance(wire.PoolPage) },
        { path: `/v1/pools/${CHAIN_ID}/${pool}/events`, faultsOf: tolerance(wire.PoolEventPage) },
        { path: `/v1/history/token/${CHAIN_ID}/${tokens[0]}`, faultsOf: tolerance(wire.HistoryPage) },
        { path: `/v1/chains/${CHAIN_ID}/health`, faultsOf: tolerance(wire.Health) },
        { path: `/v1/tokens?chain_id=${CHAIN_ID}`, faultsOf: tolerance(wire.TokenList) },
      ],
    })
    this.#computed = new Poller({
      key,
      nodes,
      everyMs: COMPUTED_MS,
      paths: this.#computedPaths.map(path => ({ path, faultsOf: quoteFaults })),
      mayBeRefused: () => this.#isWriterChanging,
    })
  }

  static async open(cast: Cast): Promise<Rehearsal> {
    return new Rehearsal(cast, await Trading.start(cast.chain))
  }

  /** Until every node has had a quote computed by the next writer, requests may find no process to compute. */
  async changeWriter(change: () => Promise<void>): Promise<void> {
    this.#isWriterChanging = true
    const startMs = performance.now()
    try {
      await change()
      for (const { name, child } of this.#cast.fleet.apis())
        await until(`a quote computed for ${name}`, async () => {
          const { status } = await ask(child.url + this.#computedPaths[0], { key: this.#cast.key })
          return status === 200
        })
    } finally {
      this.#isWriterChanging = false
      this.#changeSeconds = (performance.now() - startMs) / 1000
    }
  }

  /** The next writer undoes records of the previous one. */
  reorganise(depth: number): Promise<void> {
    return this.#trading.reorganise(depth)
  }

  async stage(stage: string, act: () => Promise<void>): Promise<Row> {
    const startMs = performance.now()
    const pollers = [this.#stored, this.#computed]
    const answered = () => pollers.reduce((sum, poller) => sum + poller.answered, 0)
    const [answeredBefore, refusedBefore] = [answered(), this.#computed.refused]
    const faults: string[] = []
    this.#changeSeconds = null
    for (const listener of this.#listeners) listener.move()
    for (const task of [act, () => this.#settle()])
      await task().catch((failure: unknown) => faults.push(String(failure)))
    const verdict = this.#cast.judge.judge(this.#listeners, await this.#trading.swaps())
    const failures = pollers.flatMap(poller => poller.failures.splice(0))
    const faultsOfMembers = [this.#cast.fleet, ...this.#listeners].flatMap(each => each.faults.splice(0))
    return {
      stage,
      seconds: (performance.now() - startMs) / 1000,
      records: verdict.records,
      lost: verdict.lost,
      repeated: verdict.repeated,
      answered: answered() - answeredBefore,
      failed: failures.length,
      refused: this.#computed.refused - refusedBefore,
      changeSeconds: this.#changeSeconds,
      faults: [...faults, ...verdict.faults, ...faultsOfMembers, ...failures],
    }
  }

  /** How often the listeners connected, and how often a request moved on from a node about to end. */
  get moves(): { readonly streams: number; readonly requests: number } {
    return {
      streams: this.#listeners.reduce((sum, { connections }) => sum + connections, 0),
      requests: this.#stored.movedOn + this.#computed.movedOn,
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#stored, this.#computed, ...this.#listeners].map(each => each.close()))
    await this.#trading.close()
  }

  /** The market pauses until everything is recorded and received, and every node agrees with the chain. */
  #settle(): Promise<void> {
    return this.#trading.paused(async () => {
      const { judge } = this.#cast
      const swaps = await this.#trading.swaps()
      await until('every swap is reported', async () => (await judge.missing(swaps)).length === 0, SETTLE_MS)
      const isHeard = () => this.#listeners.every(({ last }) => last >= judge.head)
      await until(`everybody at ${judge.head}`, isHeard, SETTLE_MS)
      await this.#compareReserves()
    })
  }

  async #compareReserves(): Promise<void> {
    const { fleet, chain, key, pool } = this.#cast
    const wanted = JSON.stringify(await chain.reserves(pool))
    for (const { name, child } of fleet.apis()) {
      const client = createClient({ baseUrl: child.url, apiKey: key })
      const { state } = await client.fetchPool({ chain_id: CHAIN_ID, pool_address: pool })
      const held = JSON.stringify(state?.reserves)
      if (held !== wanted) throw new Error(`${name} has ${held} in a pool that holds ${wanted}`)
    }
  }
}
