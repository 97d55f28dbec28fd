/**
 * Tracks what an endpoint cannot do, by method and way of asking. Providers refuse with any code and wording, so the
 * refusal itself is what counts. It is remembered, so that it costs one call, and the method is retried from time to
 * time.
 *
 * A refusal may be about one block alone, because its receipts are too large or it has been pruned. If the endpoint
 * answered the method before, only several refusals in a row mean that it no longer supports it.
 */
import type { Clock } from '../../ops/clock.ts'
import type { FeedLog } from '../feedLog.ts'
import { type FeedError, isFeedError } from '../feedError.ts'

/** Every way of asking that an endpoint may lack, and the fallback for it. */
const INSTEAD = {
  'receipts by block': 'falling back to receipts by transaction',
  'receipts by transaction': 'falling back to logs by block hash, which prove nothing',
  'logs by block hash': 'falling back to logs by block range',
  'logs by block range': 'no other way to read its logs',
  'state by block hash': 'falling back to calls by block number, with its hash checked before and after',
  batches: 'asking one call at a time',
} as const

export type Ability = keyof typeof INSTEAD

const METHOD: Readonly<Record<Ability, string>> = {
  'receipts by block': 'eth_getBlockReceipts',
  'receipts by transaction': 'eth_getTransactionReceipt',
  'logs by block hash': 'eth_getLogs with blockHash',
  'logs by block range': 'eth_getLogs',
  'state by block hash': 'eth_call with blockHash',
  batches: 'a JSON-RPC batch',
}

/** A missing ability is retried after this long, then after twice as long each time. */
const RETRY_MS = { first: 10 * 60_000, most: 4 * 3_600_000 } as const
/** From an endpoint that answered before, this many refusals in a row are not just about single blocks. */
const REFUSALS = 3
/** Number of blocks remembered whose receipts could not be fetched whole: a few heads and their forks. */
const MOST_HARD = 16

/** Words about the size of an answer; they only save the calls needed to find the cause. */
const SIZE_WORDS = /size|too (large|big|many)|exceed|limit|max/i
/** An unknown block does not mean that the method is refused. */
const UNKNOWN_BLOCK =
  /(block|header|hash)\b.*(not found|not available|unknown|does not exist|missing)|unknown (block|header)|resource not found/i

type Lack = { readonly reason: string; readonly retryMs: number; readonly untilMs: number }

export class Abilities {
  readonly #name: string
  readonly #clock: Clock
  readonly #log: FeedLog
  readonly #lacks = new Map<Ability, Lack>()
  readonly #known = new Set<Ability>()
  readonly #refusals = new Map<Ability, number>()
  readonly #hard = new Set<string>()

  constructor(name: string, clock: Clock, log: FeedLog) {
    this.#name = name
    this.#clock = clock
    this.#log = log
  }

  /** Whether the endpoint is worth asking. */
  has(ability: Ability): boolean {
    const lack = this.#lacks.get(ability)
    return lack === undefined || this.#clock.monotonicMs() >= lack.untilMs
  }

  answered(ability: Ability): void {
    this.#known.add(ability)
    this.#refusals.delete(ability)
    if (this.#lacks.delete(ability))
      this.#log('info', `endpoint ${this.#name}: ${METHOD[ability]} works again`, this.#fields(ability))
  }

  /**
   * Records a refusal. True when the caller should fall back to another way; false when the error is of another kind.
   */
  refused(ability: Ability, error: unknown): boolean {
    if (!isRefusal(error)) return false
    const count = (this.#refusals.get(ability) ?? 0) + 1
    this.#refusals.set(ability, count)
    const isAboutBlock = isAboutSize(error) || (this.#known.has(ability) && error.code !== 'METHOD_MISSING')
    if (isAboutBlock && count < REFUSALS) return true
    const before = this.#lacks.get(ability)
    const retryMs = before === undefined ? RETRY_MS.first : Math.min(before.retryMs * 2, RETRY_MS.most)
    const reason = codeOf(error)
    this.#lacks.set(ability, { reason, retryMs, untilMs: this.#clock.monotonicMs() + retryMs })
    if (before === undefined)
      this.#log(
        'warn',
        `endpoint ${this.#name}: ${METHOD[ability]} refused (${reason}); ${INSTEAD[ability]}`,
        this.#fields(ability),
      )
    return true
  }

  /** The receipts of this block did not arrive whole: request them in parts next time. */
  noteHard(blockHash: string): void {
    this.#hard.add(blockHash)
    if (this.#hard.size <= MOST_HARD) return
    for (const oldest of this.#hard) {
      this.#hard.delete(oldest)
      return
    }
  }

  isHard(blockHash: string): boolean {
    return this.#hard.has(blockHash)
  }

  /** What the endpoint lacks, in words for people; never a URL. */
  get lackings(): readonly string[] {
    return [...this.#lacks].map(([ability, { reason }]) => `${METHOD[ability]} refused (${reason})`)
  }

  #fields(ability: Ability): Readonly<Record<string, unknown>> {
    return { endpoint: this.#name, ability }
  }
}

/** A definite refusal, as opposed to no answer, a late answer, or a request to retry later. */
const isRefusal = (error: unknown): error is FeedError =>
  isFeedError(error, 'METHOD_MISSING', 'ANSWER_TOO_LARGE') ||
  (isFeedError(error, 'RPC_ERROR') && !isUnknownBlock(error))

export const isUnknownBlock = (error: unknown): boolean =>
  isFeedError(error, 'RPC_ERROR') && UNKNOWN_BLOCK.test(error.rpcMessage ?? '')

const isAboutSize = ({ code, rpcMessage }: FeedError): boolean =>
  code === 'ANSWER_TOO_LARGE' || (code === 'RPC_ERROR' && SIZE_WORDS.test(rpcMessage ?? ''))

const codeOf = ({ code, rpcCode, httpStatus }: FeedError): string =>
  rpcCode !== null ? `${rpcCode}` : httpStatus !== null ? `HTTP ${httpStatus}` : code
