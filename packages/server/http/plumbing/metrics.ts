/**
 * Metrics for operators, in the Prometheus text format. Parts do not count themselves: requests are observed by a hook,
 * the store through a wrapper of its port, records by following the log, and chains are queried at each scrape.
 */
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Clock } from '../../ops/clock.ts'
import { Count, Family, Times } from '../../ops/series.ts'
import { type Loss, LOSSES } from '../../store/loss.ts'
import type { Store } from '../../store/port.ts'
import type { Hub } from '../../stream/hub.ts'
import type { Roster } from '../../stream/roster.ts'
import type { Work } from '../../worker/chainService.ts'
import type { DeliveryOutcome } from '../../store/webhooks.ts'
import type { Feeds } from '../views/feeds.ts'
import { ExportMetrics } from './exportMetrics.ts'
import type { SeriesMakers } from './seriesMakers.ts'
import { WebhookMetrics } from './webhookMetrics.ts'

const STATUSES = ['HEALTHY', 'DEGRADED', 'GAP', 'UNAVAILABLE']

/** The sources of the gauges. */
type Sources = {
  readonly store: Pick<Store, 'readBounds' | 'listWebhooks'>
  readonly roster: Pick<Roster, 'replayed' | 'size'>
  readonly chains: ReadonlyMap<number, unknown>
  readonly feeds: Pick<Feeds, 'health'>
  readonly clock: Clock
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #families: Family<Count | Times>[] = []
  readonly #requests = this.#counts('http_requests_total', 'Requests answered.', [
    'method',
    'route',
    'status',
  ])
  readonly #requestSeconds = this.#times('http_request_seconds', 'Time to answer a request.', ['route'])
  readonly #storeSeconds = this.#times('store_seconds', 'Time of a call to the store, API side.', ['call'])
  readonly #commitSeconds = this.#times('commit_seconds', 'Time of a durable commit.', ['chain_id'])
  readonly #stepSeconds = this.#times('engine_step_seconds', 'Time of a step of the engine.', [
    'chain_id',
    'input',
  ])
  readonly #verified = this.#counts('verified_blocks_total', 'Blocks verified and passed to the engine.', [
    'chain_id',
  ])
  readonly #reorgs = this.#counts('reorgs_total', 'Reorganisations met.', ['chain_id'])
  readonly #endpointCalls = {
    calls: this.#counts('rpc_calls_total', 'Calls to an endpoint.', ['chain_id', 'endpoint']),
    failed: this.#counts('rpc_failed_total', 'Calls without a valid response.', ['chain_id', 'endpoint']),
    rejected: this.#counts('rpc_rejected_total', 'Responses that failed a check.', ['chain_id', 'endpoint']),
    kinds: this.#counts('rpc_method_calls_total', 'Calls sent, counting each call of a batch.', [
      'chain_id',
      'endpoint',
      'method',
      'purpose',
    ]),
  }
  readonly #records = this.#counts('records_total', 'Records written to the log since the start.', [
    'chain_id',
    'type',
  ])
  readonly #losses = this.#counts('log_losses_total', 'Epochs begun because the log lost records.', ['why'])
  readonly #lostRecords = this.#counts('log_lost_records_total', 'Published records that were lost.', [])
  /** Series by route, method and status, which are few: looked up by one text rather than once per label. */
  readonly #answers = new Map<string, AnswerSeries>()
  readonly #chainGauges = {
    head: this.#gauge('chain_head_block', 'The newest verified block.', ['chain_id']),
    processed: this.#gauge('chain_processed_block', 'The newest processed block.', ['chain_id']),
    finalized: this.#gauge('chain_finalized_block', 'The newest final block.', ['chain_id']),
    lagBlocks: this.#gauge('chain_lag_blocks', 'Verified blocks not yet processed.', ['chain_id']),
    lagMs: this.#gauge('chain_lag_ms', 'How far prices are behind, in milliseconds.', ['chain_id']),
    status: this.#gauge('chain_status', '1 for the present status of a chain.', ['chain_id', 'status']),
    errorRate: this.#gauge('endpoint_error_rate', 'Share of calls that failed.', ['chain_id', 'endpoint']),
    p50Ms: this.#gauge('endpoint_p50_ms', 'Median time of a call.', ['chain_id', 'endpoint']),
  }
  readonly #logHead = this.#gauge('log_head_sequence', 'The newest sequence.', [])
  readonly #logOldest = this.#gauge('log_oldest_sequence', 'The oldest sequence that can be replayed.', [])
  readonly #streams = this.#gauge('stream_clients', 'Open streams.', [])
  readonly #replayLag = this.#gauge('stream_replay_lag', 'Records the slowest replay still has to read.', [])

  readonly #makers: SeriesMakers = {
    counts: (name, help, labels) => this.#counts(name, help, labels),
    gauge: (name, help, labels) => this.#gauge(name, help, labels),
  }
  readonly #webhooks = new WebhookMetrics(this.#makers)
  readonly exports = new ExportMetrics(this.#makers)

  constructor() {
    collectDefaultMetrics({ register: this.#registry, prefix: 'assay_' })
    // Exported as 0 before the first one, because an alert needs the series.
    this.#lostRecords.of()
    for (const why of LOSSES) this.#losses.of(why)
  }

  /** The same store, with its calls timed and delivery outcomes counted. */
  ofStore<Measured extends Store>(store: Measured): Measured {
    const timed = Object.entries(store).map(([call, method]) => {
      const times = this.#storeSeconds.of(call)
      return [
        call,
        (...args: readonly unknown[]) => {
          const startMs = performance.now()
          const result = (method as (...given: readonly unknown[]) => Promise<unknown>)(...args)
          const end = () => times.observe((performance.now() - startMs) / 1000)
          result.then(end, end)
          if (call === 'settleDeliveries')
            result.then(
              () => this.#webhooks.settled(args[1] as readonly DeliveryOutcome[]),
              () => undefined,
            )
          return result
        },
      ]
    })
    return Object.fromEntries(timed) as Measured
  }

  /** Counts records as they appear on the log. */
  follow(hub: Hub): void {
    let seen = hub.head
    const wake = () => {
      for (let page = hub.after(seen); page !== null && page.length > 0; page = hub.after(seen))
        for (const { chainId, type, sequence } of page) {
          this.#records.of(chainId, type).add()
          seen = sequence
        }
      seen = hub.head
    }
    hub.listen({ wake })
  }

  /** Counts what the chain's thread reports with each commit: its durations, and its totals since it started. */
  committed(chainId: number, { input, stepMs, commitMs, verifiedBlocks, reorgs, endpoints }: Work): void {
    this.#commitSeconds.of(chainId).observe(commitMs / 1000)
    this.#stepSeconds.of(chainId, input).observe(stepMs / 1000)
    this.#verified.of(chainId).become(verifiedBlocks)
    this.#reorgs.of(chainId).become(reorgs)
    for (const { name, calls, failed, rejected, kinds } of endpoints) {
      this.#endpointCalls.calls.of(chainId, name).become(calls)
      this.#endpointCalls.failed.of(chainId, name).become(failed)
      this.#endpointCalls.rejected.of(chainId, name).become(rejected)
      for (const kind of kinds)
        this.#endpointCalls.kinds.of(chainId, name, kind.method, kind.purpose).become(kind.calls)
    }
  }

  lost({ why, lost }: Pick<Loss, 'why' | 'lost'>): void {
    this.#losses.of(why).add()
    if (lost !== null) this.#lostRecords.of().add(lost)
  }

  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      // Uses the route pattern, never the path: a path may contain anything, and there are endlessly many.
      const route = request.routeOptions.url ?? 'none'
      this.answered(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
      done()
    })
  }

  answered(method: string, route: string, status: number, seconds: number): void {
    const { requests, times } = this.answersOf(method, route, status)
    requests.add()
    times.observe(seconds)
  }

  answersOf(method: string, route: string, status: number): AnswerSeries {
    const name = `${method} ${status} ${route}`
    const known = this.#answers.get(name)
    if (known !== undefined) return known
    const made = {
      requests: this.#requests.of(method, route, status),
      times: this.#requestSeconds.of(route),
    }
    this.#answers.set(name, made)
    return made
  }

  async text(context: Sources): Promise<string> {
    const { head, oldest } = await context.store.readBounds()
    const replayed = context.roster.replayed()
    this.#logHead.set(head)
    this.#logOldest.set(oldest)
    this.#streams.set(context.roster.size)
    this.#replayLag.set(replayed === null ? 0 : Math.max(0, head - replayed))
    await this.#webhooks.read(context.store, head)
    for (const chainId of context.chains.keys()) this.#readChain(context, chainId)
    return [await this.#registry.metrics(), ...this.#families.map(family => family.text())].join('\n')
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  #readChain(context: Sources, chainId: number): void {
    const health = context.feeds.health(chainId, context.clock.nowMs())
    const { head, processed, finalized, lagBlocks, lagMs, status, errorRate, p50Ms } = this.#chainGauges
    const labels = { chain_id: chainId }
    const set = (gauge: Gauge, value: number | null | undefined, more = {}) =>
      value == null ? gauge.remove({ ...labels, ...more }) : gauge.set({ ...labels, ...more }, value)
    set(head, health.head?.block_number)
    set(processed, health.processed?.block_number)
    set(finalized, health.finalized?.block_number)
    set(lagBlocks, health.lag_blocks)
    set(lagMs, health.lag_ms)
    for (const each of STATUSES) status.set({ ...labels, status: each }, health.status === each ? 1 : 0)
    for (const { name, error_rate, p50_ms } of health.endpoints) {
      set(errorRate, error_rate, { endpoint: name })
      set(p50Ms, p50_ms, { endpoint: name })
    }
  }

  #counts(name: string, help: string, labels: readonly string[]): Family<Count> {
    const family = new Family(Count, `assay_${name}`, help, labels)
    this.#families.push(family)
    return family
  }

  #times(name: string, help: string, labels: readonly string[]): Family<Times> {
    const family = new Family(Times, `assay_${name}`, help, labels)
    this.#families.push(family)
    return family
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name: `assay_${name}`, help, labelNames, registers: [this.#registry] })
  }
}

/** The series of one kind of answer. */
export type AnswerSeries = { readonly requests: Count; readonly times: Times }
