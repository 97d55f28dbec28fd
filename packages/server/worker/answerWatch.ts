/**
 * When stable answers have to be read again: when a contract that logs them says so, after a reorganisation, and now and
 * then in any case. Where logs cannot be relied upon, time alone decides.
 */
import type { VerifiedBlock } from '../feed/feed.ts'
import { TOPIC } from '../market/abi.ts'
import type { AnswerSources } from '../market/market.ts'

/** A proxy may turn to another aggregator, and a log may have been missed. */
const RENEW_MS = 600_000
/** Feeds whose logs nobody vouches for: answers change by the minute. */
const UNTOLD_MS = 30_000

export class AnswerWatch {
  #sources: AnswerSources | null = null
  #sourcesReadAtMs = Number.NEGATIVE_INFINITY
  #readAtMs = Number.NEGATIVE_INFINITY
  #isTold = false
  #isProven = true

  /** These blocks came in; those that replace others took readings with them. */
  note(blocks: readonly Pick<VerifiedBlock, 'logs' | 'proof'>[], isReorg: boolean): void {
    this.#isProven = blocks.every(({ proof }) => proof !== 'none')
    const isAnswer = ({ address, topics }: VerifiedBlock['logs'][number]) =>
      topics[0] === TOPIC.answerUpdated && this.#sources?.contracts.has(address) === true
    if (isReorg || blocks.some(({ logs }) => logs.some(isAnswer))) this.#isTold = true
  }

  isDue(nowMs: number): boolean {
    const isRelied = this.#isProven && this.#sources?.isComplete === true
    return this.#isTold || nowMs - this.#readAtMs >= (isRelied ? RENEW_MS : UNTOLD_MS)
  }

  areSourcesDue(nowMs: number): boolean {
    return nowMs - this.#sourcesReadAtMs >= RENEW_MS
  }

  /** A reading begins: what is logged from now on is not in it. */
  begin(nowMs: number): void {
    this.#isTold = false
    this.#readAtMs = nowMs
  }

  /** It came to nothing. */
  failed(): void {
    this.#isTold = true
  }

  setSources(sources: AnswerSources, nowMs: number): void {
    this.#sources = sources
    this.#sourcesReadAtMs = nowMs
  }
}
