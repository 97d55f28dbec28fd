/**
 * Compares the listeners' records with the log in the database and with the chain: every record of the log once and
 * unchanged, and every swap of the chain in one of them.
 */
import type { Envelope } from '@assay/sdk'
import { isSwap, recordIdOf } from '../../packages/server/endToEnd/testing/record.ts'
import type { StoreReader } from '../../packages/server/store/check.ts'
import type { Listener } from './listener.ts'

const PAGE = 1000

type Logged = { readonly sequence: number; readonly text: string }

export type Verdict = {
  readonly records: number
  readonly lost: number
  readonly repeated: number
  readonly faults: readonly string[]
}

/** Reads each part of the log once, and remembers entries that may occur only once in all of it. */
export class Judge {
  readonly #open: () => Promise<StoreReader>
  #reader: StoreReader | null = null
  readonly #log: Logged[] = []
  /** The position up to which the log has been judged. */
  #judged = 0
  readonly #recordIds = new Set<string>()
  /** How often each swap was recorded. */
  readonly #swaps = new Map<string, number>()
  #faults: string[] = []
  #repeated = 0

  /** Opened on first use: a reader refuses a database that no process of its version has opened. */
  constructor(open: () => Promise<StoreReader>) {
    this.#open = open
  }

  async close(): Promise<void> {
    await this.#reader?.close()
  }

  /** The last sequence it has read. */
  get head(): number {
    return this.#log.at(-1)?.sequence ?? 0
  }

  /** Reads the new part of the log; returns those of these swaps that have no record. */
  async missing(swaps: readonly string[]): Promise<readonly string[]> {
    const reader = (this.#reader ??= await this.#open())
    for (;;) {
      const page = await reader.readLog(this.head, PAGE, null)
      for (const { sequence, envelope } of page) this.#note(sequence, JSON.parse(envelope) as Envelope)
      if (page.length === 0) return swaps.filter(swap => !this.#swaps.has(swap))
    }
  }

  /** Judges everything read since the last judgement, after all listeners had time to receive it. */
  judge(listeners: readonly Listener[], swaps: readonly string[]): Verdict {
    const fresh = this.#log.slice(this.#judged)
    const heard = listeners.map(({ name, records }) => this.#compare(name, records, fresh))
    const missing = swaps.filter(swap => !this.#swaps.has(swap))
    const twice = swaps.filter(swap => (this.#swaps.get(swap) ?? 0) > 1)
    if (missing.length > 0) this.#faults.push(`${missing.length} swaps without a record, ${missing[0]} first`)
    if (twice.length > 0)
      this.#faults.push(`${twice.length} swaps that are reported twice, ${twice[0]} first`)
    const verdict = {
      records: fresh.length,
      lost: missing.length + heard.reduce((sum, { lost }) => sum + lost, 0),
      repeated: twice.length + this.#repeated + heard.reduce((sum, { repeated }) => sum + repeated, 0),
      faults: this.#faults,
    }
    this.#judged = this.#log.length
    this.#faults = []
    this.#repeated = 0
    return verdict
  }

  #note(sequence: number, record: Envelope): void {
    if (sequence !== this.head + 1) this.#faults.push(`the log continues from ${this.head} with ${sequence}`)
    this.#log.push({ sequence, text: JSON.stringify(record) })
    const id = recordIdOf(record)
    if (id !== null && this.#recordIds.has(id)) {
      this.#repeated += 1
      this.#faults.push(`the log has record ${id} twice`)
    }
    if (id !== null) this.#recordIds.add(id)
    if (!isSwap()(record)) return
    const swap = `${record.payload.block_hash} ${record.payload.log_index}`
    this.#swaps.set(swap, (this.#swaps.get(swap) ?? 0) + 1)
  }

  #compare(name: string, records: readonly Envelope[], fresh: readonly Logged[]) {
    const heard = new Map<number, string[]>()
    for (const record of records) {
      const said = heard.get(record.stream_sequence) ?? []
      heard.set(record.stream_sequence, [...said, JSON.stringify(record)])
    }
    let [lost, repeated] = [0, 0]
    for (const { sequence, text } of fresh) {
      const said = heard.get(sequence) ?? []
      if (said.length === 0) lost += 1
      repeated += Math.max(0, said.length - 1)
      for (const each of said)
        if (each !== text) this.#faults.push(`${name} heard ${sequence} as ${each}, and the log has ${text}`)
    }
    const isOrdered = records.every(
      ({ stream_sequence }, at) => at === 0 || stream_sequence > (records[at - 1]?.stream_sequence ?? 0),
    )
    if (!isOrdered) this.#faults.push(`${name} heard records out of order`)
    if (lost > 0) this.#faults.push(`${name} missed ${lost} records up to ${this.head}`)
    if (repeated > 0) this.#faults.push(`${name} heard ${repeated} records again`)
    return { lost, repeated }
  }
}
