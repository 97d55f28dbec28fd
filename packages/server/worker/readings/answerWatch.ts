/**
 * When feed answers have to be read from the chain. An aggregator logs each new answer, and a proven block contains the
 * log, so usually nothing has to be read.
 *
 * The answers are read anyway: periodically, because a proxy may switch to another aggregator; after a reorganisation;
 * when one of our contracts logs an event without the answer, as a sequencer feed does; and every half minute where
 * logs are not proven.
 */
import type { LogEntry } from '../../feed/answers/entry.ts'
import type { VerifiedBlock } from '../../feed/feed.ts'
import { ANSWER_UPDATED } from '../../market/abi.ts'
import { answersIn, type FeedAnswers } from '../../market/answerLogs.ts'
import type { AnswerSources } from '../../market/market.ts'
import type { Address } from '../../ops/hex.ts'

type Block = Pick<VerifiedBlock, 'logs' | 'proof'>

/** A proxy may have switched to another aggregator, or a log may have been missed. */
const RENEW_MS = 600_000
/** Interval for feeds whose logs are not proven: answers change by the minute. */
const UNTOLD_MS = 30_000

const NO_SOURCES: AnswerSources = { aggregators: new Map(), others: new Set(), isComplete: false }

export class AnswerWatch {
  #sources: AnswerSources = NO_SOURCES
  #sourcesReadAtMs = Number.NEGATIVE_INFINITY
  #readAtMs = Number.NEGATIVE_INFINITY
  #isTold = false
  #isProven = true
  /** Contracts that logged an answer since the last reading began: one may turn out to be an aggregator of ours. */
  readonly #loggers = new Set<Address>()

  /** The answers in a block's logs; an unproven block only marks that a reading is due. */
  take({ logs, proof }: Block, decimalsOf: (token: Address) => number | null): FeedAnswers {
    for (const log of logs) if (isAnswer(log)) this.#loggers.add(log.address)
    const { answers, isUnclear } = answersIn(logs, this.#sources, decimalsOf)
    const isProven = proof !== 'none'
    if (isUnclear || (!isProven && answers.length > 0)) this.#isTold = true
    return isProven ? answers : []
  }

  /** Notes new blocks; those of a reorganisation may have orphaned the block of a reading. */
  note(blocks: readonly Block[], isReorg: boolean): void {
    this.#isProven = blocks.every(({ proof }) => proof !== 'none')
    if (isReorg) this.#isTold = true
  }

  isDue(nowMs: number): boolean {
    const isRelied = this.#isProven && this.#sources.isComplete
    return (
      this.#isTold || this.areSourcesDue(nowMs) || nowMs - this.#readAtMs >= (isRelied ? RENEW_MS : UNTOLD_MS)
    )
  }

  areSourcesDue(nowMs: number): boolean {
    return nowMs - this.#sourcesReadAtMs >= RENEW_MS
  }

  /** A reading begins: it does not include anything logged from now on. */
  begin(nowMs: number): void {
    this.#isTold = false
    this.#readAtMs = nowMs
    this.#loggers.clear()
  }

  /** The reading failed. */
  failed(): void {
    this.#isTold = true
  }

  /**
   * The sources at the block of a reading. Logs that arrived meanwhile were attributed to the sources known before: if
   * the sources have changed, the feeds are read once more.
   */
  setSources(sources: AnswerSources, nowMs: number): void {
    const [before, now] = [this.#sources.aggregators, sources.aggregators]
    for (const logger of this.#loggers)
      if (String(before.get(logger)) !== String(now.get(logger))) this.#isTold = true
    this.#sources = sources
    this.#sourcesReadAtMs = nowMs
  }
}

const isAnswer = ({ topic }: LogEntry): boolean => topic === ANSWER_UPDATED
