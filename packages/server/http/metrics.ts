/**
 * What an operator watches, in the Prometheus text format. Nothing counts itself: requests are seen by a hook, the
 * store through a wrapper of its port, records by following the log, and chains are asked when someone scrapes.
 */
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Store } from '../store/port.ts'
import type { Hub } from '../stream/hub.ts'
import { Refusal } from './apiError.ts'
import { healthOf } from './chains.ts'
import type { HttpContext } from './context.ts'

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const STATUSES = ['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE']

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = this.#counter('http_requests_total', 'Requests answered.', [
    'method',
    'route',
    'status',
  ])
  readonly #requestSeconds = this.#histogram('http_request_seconds', 'Time to answer a request.', ['route'])
  /** Looked up once: routes, methods and statuses are few, and the look-up costs as much as an answer. */
  readonly #series = new Map<
    string,
    { readonly requests: Counter.Internal; readonly seconds: Histogram.Internal<string> }
  >()
  readonly #storeSeconds = this.#histogram('store_seconds', 'Time of a call to the store, API side.', [
    'call',
  ])
  readonly #commitSeconds = this.#histogram('commit_seconds', 'Time of a durable commit.', ['chain_id'])
  readonly #records = this.#counter('records_total', 'Records on the log since the start.', [
    'chain_id',
    'type',
  ])
  readonly #chainGauges = {
    head: this.#gauge('chain_head_block', 'The newest verified block.', ['chain_id']),
    processed: this.#gauge('chain_processed_block', 'The newest block in the prices.', ['chain_id']),
    finalized: this.#gauge('chain_finalized_block', 'The newest final block.', ['chain_id']),
    lagBlocks: this.#gauge('chain_lag_blocks', 'Verified blocks not yet in the prices.', ['chain_id']),
    lagMs: this.#gauge('chain_lag_ms', 'How far the prices are behind.', ['chain_id']),
    status: this.#gauge('chain_status', '1 for the status a chain is in.', ['chain_id', 'status']),
    errorRate: this.#gauge('endpoint_error_rate', 'Share of calls that failed.', ['chain_id', 'endpoint']),
    p50Ms: this.#gauge('endpoint_p50_ms', 'Median time of a call.', ['chain_id', 'endpoint']),
  }
  readonly #logHead = this.#gauge('log_head_sequence', 'The newest sequence.', [])
  readonly #logOldest = this.#gauge('log_oldest_sequence', 'The oldest sequence that can be replayed.', [])
  readonly #streams = this.#gauge('stream_clients', 'Open streams.', [])

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'assay_' })
  }

  /** The same store, with its calls timed. */
  ofStore<Measured extends Store>(store: Measured): Measured {
    const timed = Object.entries(store).map(([call, method]) => [
      call,
      (...args: readonly unknown[]) => {
        const end = this.#storeSeconds.startTimer({ call })
        const result = (method as (...given: readonly unknown[]) => Promise<unknown>)(...args)
        result.then(
          () => end(),
          () => end(),
        )
        return result
      },
    ])
    return Object.fromEntries(timed) as Measured
  }

  /** Counts what comes to stand on the log. */
  follow(hub: Hub): void {
    let seen = hub.head
    hub.listen(() => {
      for (let page = hub.after(seen); page !== null && page.length > 0; page = hub.after(seen))
        for (const { chainId, type, sequence } of page) {
          this.#records.inc({ chain_id: chainId, type })
          seen = sequence
        }
      seen = hub.head
    })
  }

  committed(chainId: number, tookMs: number): void {
    this.#commitSeconds.observe({ chain_id: chainId }, tookMs / 1000)
  }

  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      // By the route as it is written, never by the path: a path may hold anything, and there are endlessly many.
      const route = request.routeOptions.url ?? 'none'
      this.answered(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
      done()
    })
  }

  answered(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${status} ${route}`
    let series = this.#series.get(name)
    if (series === undefined) {
      series = {
        requests: this.#requests.labels({ method, route, status }),
        seconds: this.#requestSeconds.labels({ route }),
      }
      this.#series.set(name, series)
    }
    series.requests.inc()
    series.seconds.observe(seconds)
  }

  async text(context: HttpContext, streams: number): Promise<string> {
    const { head, oldest } = await context.store.readBounds()
    this.#logHead.set(head)
    this.#logOldest.set(oldest)
    this.#streams.set(streams)
    for (const chainId of context.chains.keys()) await this.#readChain(context, chainId)
    return this.#registry.metrics()
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  async #readChain(context: HttpContext, chainId: number): Promise<void> {
    const health = (await healthOf(context, chainId)) as ChainHealth | null
    const { head, processed, finalized, lagBlocks, lagMs, status, errorRate, p50Ms } = this.#chainGauges
    const labels = { chain_id: chainId }
    const set = (gauge: Gauge, value: number | null | undefined, more = {}) =>
      value == null ? gauge.remove({ ...labels, ...more }) : gauge.set({ ...labels, ...more }, value)
    set(head, health?.head?.block_number)
    set(processed, health?.processed?.block_number)
    set(finalized, health?.finalized?.block_number)
    set(lagBlocks, health?.lag_blocks)
    set(lagMs, health?.lag_ms)
    for (const each of STATUSES)
      status.set({ ...labels, status: each }, (health?.status ?? 'UNAVAILABLE') === each ? 1 : 0)
    for (const { name, error_rate, p50_ms } of health?.endpoints ?? []) {
      set(errorRate, error_rate, { endpoint: name })
      set(p50Ms, p50_ms, { endpoint: name })
    }
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: `assay_${name}`, help, labelNames, registers: [this.#registry] })
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name: `assay_${name}`, help, labelNames, registers: [this.#registry] })
  }

  #histogram(name: string, help: string, labelNames: string[]): Histogram {
    return new Histogram({
      name: `assay_${name}`,
      help,
      labelNames,
      buckets: SECONDS,
      registers: [this.#registry],
    })
  }
}

type ChainHealth = {
  readonly status: string
  readonly head: { readonly block_number: number } | null
  readonly processed: { readonly block_number: number } | null
  readonly finalized: { readonly block_number: number } | null
  readonly lag_blocks: number | null
  readonly lag_ms: number | null
  readonly endpoints: readonly {
    readonly name: string
    readonly error_rate: number
    readonly p50_ms: number | null
  }[]
}

/** GET /metrics, for the operator's own addresses. */
export function registerMetrics(app: FastifyInstance, context: HttpContext): void {
  app.get('/metrics', async (request, reply) => {
    if (!context.addresses.isAllowed(request.raw)) throw new Refusal(403)
    return reply
      .header('content-type', context.metrics.contentType)
      .send(await context.metrics.text(context, context.roster.size))
  })
}
