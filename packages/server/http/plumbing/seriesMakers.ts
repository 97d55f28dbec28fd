/** Creates the metric series of each part; all of them are on the one page that Prometheus reads. */
import type { Gauge } from 'prom-client'
import type { Count, Family } from '../../ops/series.ts'

export type SeriesMakers = {
  readonly counts: (name: string, help: string, labels: readonly string[]) => Family<Count>
  readonly gauge: (name: string, help: string, labels: string[]) => Gauge
}
