/** Metrics of exports: how many are running, how they ended, and how much was sent. */
import type { Gauge } from 'prom-client'
import type { Count, Family } from '../../ops/series.ts'
import { FORMATS } from '../../exports/files.ts'
import type { SeriesMakers } from './seriesMakers.ts'

/** `cut`: the client disconnected before the end. */
type Outcome = 'whole' | 'cut' | 'failed'
const OUTCOMES: readonly Outcome[] = ['whole', 'cut', 'failed']

export class ExportMetrics {
  readonly #running: Gauge
  readonly #ended: Family<Count>
  readonly #bytes: Family<Count>

  constructor({ counts, gauge }: SeriesMakers) {
    this.#running = gauge('exports_running', 'Exports under way.', [])
    this.#ended = counts('exports_total', 'Exports that have ended.', ['outcome'])
    this.#bytes = counts('export_bytes_total', 'Bytes of exports that were taken.', ['format'])
    this.#running.set(0)
    // Exported as 0 before the first one, because an alert and the dashboard need the series.
    for (const outcome of OUTCOMES) this.#ended.of(outcome)
    for (const format of FORMATS) this.#bytes.of(format)
  }

  begun(format: string): {
    readonly taken: (bytes: number) => void
    readonly ended: (outcome: Outcome) => void
  } {
    this.#running.inc()
    const bytes = this.#bytes.of(format)
    return {
      taken: more => bytes.add(more),
      ended: outcome => {
        this.#running.dec()
        this.#ended.of(outcome).add()
      },
    }
  }
}
