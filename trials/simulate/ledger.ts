/**
 * A second copy of the log, built from the visible state of the store after each commit. It knows what the log must
 * contain next, the fold of the log, and the next record a client must receive.
 */
import { createHash } from 'node:crypto'
import type { State } from '../../packages/engine/index.ts'
import { epochOf } from '../../packages/server/store/epoch.ts'
import type {
  Committed,
  LogRecord,
  LogStore,
  Sequence,
  StepCommit,
} from '../../packages/server/store/port.ts'
import { lastPricedText } from '../../packages/server/store/lastPriced.ts'
import type { Verdict } from './verdict.ts'

/** The last record of a token or a pool; `state` is wire JSON, null when the entity no longer exists. */
export type Last = { readonly sequence: Sequence; readonly recordId: string; readonly state: string | null }

/** The entity that a record describes. */
export type Subject = { readonly scope: 'token' | 'pool'; readonly id: string }

type Entry = { readonly envelope: string; readonly subject: Subject | null }

type Said = {
  readonly stream_sequence: Sequence
  readonly routing: { readonly chain_id: number }
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

const PAGE = 1000

export class Ledger {
  readonly #verdict: Verdict
  readonly #entries = new Map<Sequence, Entry>()
  readonly #ofChain = new Map<number, Sequence[]>()
  readonly #steps = new Map<number, number>()
  readonly #fold = new Map<string, Last>()
  readonly #hash = createHash('sha256')
  head: Sequence = 0
  records = 0

  constructor(verdict: Verdict) {
    this.#verdict = verdict
  }

  /** After a commit: the log has grown by exactly its records, complete and in order. */
  async take(store: LogStore, commit: StepCommit, outcome: Committed): Promise<void> {
    const check = this.#verdict
    const records: LogRecord[] = []
    for (let isFull = true; isFull; ) {
      const page = await store.readLog(records.at(-1)?.sequence ?? this.head, PAGE, null)
      records.push(...page)
      isFull = page.length === PAGE
    }
    const { chainId, step } = commit
    if (outcome.outcome === 'committed') {
      const before = this.#steps.get(chainId) ?? 0
      check.check(
        'log',
        step === before + 1,
        () => `chain ${chainId}: step ${step} was committed after step ${before}`,
      )
      this.#steps.set(chainId, step)
    }
    const drafts = outcome.outcome === 'committed' ? commit.records : []
    check.check(
      'log',
      records.length === drafts.length,
      () =>
        `chain ${chainId}, step ${step}: ${drafts.length} records were committed, the log has ${records.length} more`,
    )
    for (const [at, record] of records.entries()) {
      const draft = drafts[at]
      const said = JSON.parse(record.envelope) as Said
      const before = this.last(chainId, 'token', String(said.payload['token_id']))?.state ?? null
      const lastPriced = draft?.isUnpriced === true ? lastPricedText(before) : null
      check.check(
        'log',
        draft?.seal(record.sequence, withdrawnBy(said), lastPriced).envelope === record.envelope &&
          record.chainId === chainId,
        () =>
          `sequence ${record.sequence} holds ${said.type} ${String(said.payload['record_id'])}, not what was committed`,
      )
      this.#append(record, said)
    }
    if (outcome.outcome === 'committed')
      check.check(
        'log',
        outcome.last === this.head || records.length === 0,
        () => `a commit says it ends at ${outcome.last}, the log at ${this.head}`,
      )
  }

  /** The log continues in another epoch. */
  beginEpoch(head: Sequence): void {
    this.head = head
  }

  /** Earlier records are no longer kept. */
  forget(oldest: Sequence): void {
    for (const sequence of this.#entries.keys()) {
      if (sequence >= oldest) break
      this.#entries.delete(sequence)
    }
    for (const [chainId, sequences] of this.#ofChain)
      this.#ofChain.set(chainId, sequences.slice(Math.max(0, indexAfter(sequences, oldest - 1) - 1)))
  }

  envelope(sequence: Sequence): string | undefined {
    return this.#entries.get(sequence)?.envelope
  }

  /** The entities in a chain's records above a position; null when some of those records are no longer kept. */
  subjectsAfter(chainId: number, after: Sequence): readonly Subject[] | null {
    const sequences = this.#ofChain.get(chainId) ?? []
    const subjects = new Map<string, Subject>()
    for (let at = indexAfter(sequences, after); at < sequences.length; at++) {
      const entry = this.#entries.get(sequences[at] as Sequence)
      if (entry === undefined) return null
      if (entry.subject !== null) subjects.set(entry.subject.id, entry.subject)
    }
    return [...subjects.values()]
  }

  /** The record of a chain after a position; null at its end. */
  next(chainId: number, after: Sequence): Sequence | null {
    const sequences = this.#ofChain.get(chainId) ?? []
    return sequences[indexAfter(sequences, after)] ?? null
  }

  /** The last record of a chain in this epoch; null before the first. */
  lastOf(chainId: number): Sequence | null {
    const last = this.#ofChain.get(chainId)?.at(-1)
    return last === undefined || epochOf(last) !== epochOf(this.head) ? null : last
  }

  last(chainId: number, scope: 'token' | 'pool', id: string): Last | undefined {
    return this.#fold.get(`${chainId} ${scope} ${id}`)
  }

  /** Every entity of a chain that has a state. */
  *standing(chainId: number, scope: 'token' | 'pool'): Generator<readonly [id: string, last: Last]> {
    const head = `${chainId} ${scope} `
    for (const [key, last] of this.#fold)
      if (key.startsWith(head) && last.state !== null) yield [key.slice(head.length), last]
  }

  /** The records that the engine considers published are the last ones in the log. */
  compare(chainId: number, state: State): void {
    for (const [scope, entities] of [
      ['token', state.tokens],
      ['pool', state.pools],
    ] as const)
      for (const { id, published } of entities.values()) {
        const said = this.last(chainId, scope, id)?.recordId ?? null
        const meant = published?.recordId ?? null
        this.#verdict.check(
          'log',
          said === meant,
          () =>
            `${scope} ${id} of chain ${chainId}: the engine stands on record ${meant}, the log on ${said}`,
        )
      }
  }

  /** Covers every byte of the log so far. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  #append(record: LogRecord, said: Said): void {
    const { sequence, chainId, envelope } = record
    this.#verdict.check(
      'log',
      sequence === this.head + 1,
      () => `the log goes from ${this.head} to ${sequence}`,
    )
    this.#verdict.check(
      'log',
      said.stream_sequence === sequence && said.routing.chain_id === chainId,
      () => `the record at ${sequence} says it is ${said.stream_sequence} of chain ${said.routing.chain_id}`,
    )
    this.head = sequence
    this.records += 1
    const sequences = this.#ofChain.get(chainId) ?? []
    sequences.push(sequence)
    this.#ofChain.set(chainId, sequences)
    this.#hash.update(envelope).update('\n')
    const isPrice = said.type === 'PRICE_UPSERT' || said.type === 'PRICE_RETRACT'
    this.#entries.set(sequence, { envelope, subject: isPrice ? this.#apply(chainId, sequence, said) : null })
  }

  #apply(chainId: number, sequence: Sequence, { type, payload }: Said): Subject {
    const { scope, chain_id: _, token_id, pool_id, record_id, ...rest } = payload
    const subject = { scope: scope as Subject['scope'], id: String(token_id ?? pool_id) }
    const key = `${chainId} ${subject.scope} ${subject.id}`
    if (type === 'PRICE_RETRACT') {
      const retracted = rest['retracted'] as { record_id: string; stream_sequence: Sequence | null }
      const before = this.#fold.get(key)
      this.#verdict.check(
        'log',
        before?.recordId === retracted.record_id && before.sequence === retracted.stream_sequence,
        () =>
          `${sequence} retracts ${retracted.record_id} of ${key}, whose last record is ${before?.recordId ?? 'none'}`,
      )
    }
    const state = type === 'PRICE_RETRACT' ? rest['current'] : rest
    this.#fold.set(key, {
      sequence,
      recordId: String(record_id),
      state: state === null ? null : JSON.stringify(state),
    })
    return subject
  }
}

/** The sequence that a retraction claims to withdraw; the fold below checks that it is the right one. */
function withdrawnBy({ payload }: Said): Sequence | null {
  const retracted = payload['retracted'] as { readonly stream_sequence: Sequence } | undefined
  return retracted?.stream_sequence ?? null
}

/** The index of the first of the ascending sequences above `after`. */
function indexAfter(sequences: readonly Sequence[], after: Sequence): number {
  let [low, high] = [0, sequences.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sequences[middle] as Sequence) <= after) low = middle + 1
    else high = middle
  }
  return low
}
