/**
 * Decodes new answers of dollar feeds in the logs of a block: `AnswerUpdated(current, roundId, updatedAt)` of known
 * aggregators.
 */
import type { Input } from '@assay/engine'
import type { LogEntry } from '../feed/answers/entry.ts'
import type { Address } from '../ops/hex.ts'
import { ANSWER_UPDATED } from './abi.ts'
import { uintIn } from './logWords.ts'
import type { AnswerSources } from './market.ts'
import { answerOf } from './stableReader.ts'

export type FeedAnswers = Extract<Input, { kind: 'feed_answer' }>['answers']

/** The event's signature and two indexed values; the data is one word. */
const TOPICS = 3
const DATA_DIGITS = 64

/**
 * The last answer of each token; `isUnclear` when one of our contracts logged an event that requires a read.
 * `decimalsOf` gives the decimals last read from the feed of a token.
 */
export function answersIn(
  logs: readonly LogEntry[],
  { aggregators, others }: AnswerSources,
  decimalsOf: (token: Address) => number | null,
): { readonly answers: FeedAnswers; readonly isUnclear: boolean } {
  const answers = new Map<Address, FeedAnswers[number]>()
  let isUnclear = false
  for (const log of logs) {
    if (log.topic !== ANSWER_UPDATED) continue
    if (others.has(log.address)) isUnclear = true
    for (const token of aggregators.get(log.address) ?? []) {
      const answer = answerIn(log, decimalsOf(token))
      if (answer === null) isUnclear = true
      else answers.set(token, { token, answer })
    }
  }
  return { answers: [...answers.values()], isUnclear }
}

function answerIn(log: LogEntry, decimals: number | null): FeedAnswers[number]['answer'] | null {
  const [, current] = log.topics
  const isKnownForm = log.topics.length === TOPICS && log.dataEnd - log.dataAt === DATA_DIGITS
  if (current === undefined || !isKnownForm || decimals === null) return null
  return answerOf(BigInt.asIntN(256, BigInt(current)), uintIn(log, 0), decimals)
}
