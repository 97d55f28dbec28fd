/**
 * Where the answers of feeds come from. An aggregator logs each new one, and a proven block has the log: nothing needs to be
 * read. They are read now and then in any case, because a proxy may turn to another aggregator; after a reorganisation;
 * when a contract of ours logs what its log does not tell, as a sequencer does; and where logs are not proven, by the minute.
 */
import type { LogEntry } from '../../feed/answers/entry.ts'
import type { VerifiedBlock } from '../../feed/feed.ts'
import { ANSWER_UPDATED } from '../../market/abi.ts'
import { answersIn, type FeedAnswers } from '../../market/answerLogs.ts'
import type { AnswerSources } from '../../market/market.ts'
import type { Address } from '../../ops/config.ts'

type Block = Pick<VerifiedBlock, 'logs' | 'proof'>

/** A proxy may turn to another aggregator, and a log may have been missed. */
const RENEW_MS = 600_000
/** Feeds whose logs nobody vouches for: answers change by the minute. */
const UNTOLD_MS = 30_000

const NO_SOURCES: AnswerSources = { aggregators: new Map(), others: new Set(), isComplete: false }

export class AnswerWatch {
  #sources: AnswerSources = NO_SOURCES
  #sourcesReadAtMs = Number.NEGATIVE_INFINITY
  #readAtMs = Number.NEGATIVE_INFINITY
  #isTold = false
  #isProven = true
  /** Contracts that logged an answer since the last reading began: they may turn out to be ours. */
  readonly #loggers = new Set<Address>()

  /** What the logs of a block say; a block that is not proven says that there is something to read. */
  take({ logs, proof }: Block, decimalsOf: (token: Address) => number | null): FeedAnswers {
    for (const log of logs) if (isAnswer(log)) this.#loggers.add(log.address)
    const { answers, isUnclear } = answersIn(logs, this.#sources, decimalsOf)
    const isProven = proof !== 'none'
    if (isUnclear || (!isProven && answers.length > 0)) this.#isTold = true
    return isProven ? answers : []
  }

  /** These blocks came in; those that replace others took readings with them. */
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

  /** A reading begins: what is logged from now on is not in it. */
  begin(nowMs: number): void {
    this.#isTold = false
    this.#readAtMs = nowMs
    this.#loggers.clear()
  }

  /** It came to nothing. */
  failed(): void {
    this.#isTold = true
  }

  /**
   * As they were at the block of a reading. What was logged meanwhile was taken for what the sources before said: where
   * those were others, the feeds are read once more.
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
