/**
 * Frequently updated counters and timings in the Prometheus text format. A series is looked up once and then counts
 * without garbage: prom-client checks and hashes every label at every observation, which costs more than the answer it
 * counts.
 */

/** Upper bounds in seconds: from a cached answer to the longest a handler may take. */
export const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

export class Count {
  #value = 0

  add(more = 1): void {
    this.#value += more
  }

  /** The counter of a process that restarted is smaller than its last value, which Prometheus handles as a restart. */
  become(total: number): void {
    this.#value = total
  }

  lines(name: string, labels: string): string[] {
    return [`${name}${braced(labels)} ${this.#value}`]
  }
}

export class Times {
  readonly #buckets = new Float64Array(SECONDS.length + 1)
  #sum = 0

  observe(seconds: number): void {
    let at = 0
    while (at < SECONDS.length && seconds > (SECONDS[at] as number)) at++
    ;(this.#buckets[at] as number) += 1
    this.#sum += seconds
  }

  lines(name: string, labels: string): string[] {
    const comma = labels === '' ? '' : ','
    let below = 0
    const buckets = Array.from(this.#buckets, (count, at) => {
      below += count
      return `${name}_bucket{${labels}${comma}le="${SECONDS[at] ?? '+Inf'}"} ${below}`
    })
    return [
      ...buckets,
      `${name}_sum${braced(labels)} ${this.#sum}`,
      `${name}_count${braced(labels)} ${below}`,
    ]
  }
}

/** All series of one name, by their label values. */
export class Family<Series extends Count | Times> {
  readonly #name: string
  readonly #help: string
  readonly #labels: readonly string[]
  readonly #make: new () => Series
  readonly #series = new Map<string, Series>()

  constructor(make: new () => Series, name: string, help: string, labels: readonly string[]) {
    this.#make = make
    this.#name = name
    this.#help = help
    this.#labels = labels
  }

  of(...values: readonly (string | number)[]): Series {
    const key = this.#labels.map((label, at) => `${label}="${escaped(String(values[at]))}"`).join(',')
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const made = new this.#make()
    this.#series.set(key, made)
    return made
  }

  text(): string {
    const type = (this.#make as unknown) === Times ? 'histogram' : 'counter'
    return [
      `# HELP ${this.#name} ${this.#help}`,
      `# TYPE ${this.#name} ${type}`,
      ...[...this.#series].flatMap(([labels, series]) => series.lines(this.#name, labels)),
      '',
    ].join('\n')
  }
}

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`)

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
