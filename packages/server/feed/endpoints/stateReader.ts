/**
 * Reads the state of a block from one endpoint, by the block's hash (EIP-1898), so that it is the state of exactly that
 * block. Simultaneous calls for one block are sent together, as a batch where the endpoint supports it.
 *
 * An endpoint that does not accept hashes is asked by number, with the hash at that number before and after. The
 * answers count only if both hashes are the block's own.
 */
import type { Hex } from '../../ops/hex.ts'
import { isUnknownBlock } from './abilities.ts'
import { requestAll } from '../transport/batches.ts'
import type { Call, Settled } from '../transport/connection.ts'
import { untilAborted } from '../transport/deadline.ts'
import type { Endpoint } from './endpoint.ts'
import { type FeedError, isFeedError } from '../feedError.ts'
import { fetchHeaderByHash, fetchHeaderByNumber, unknown } from '../proof/header.ts'

export type Question = {
  readonly method: 'eth_call' | 'eth_getCode'
  /** The parameters before the block. */
  readonly subject: unknown
  readonly blockHash: Hex
}

type Asked = {
  readonly question: Question
  readonly signal: AbortSignal
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

const BY_HASH = 'state by block hash'

/** Execution reverted (geth and most); VM execution error (Parity and its heirs). */
const REVERT_CODES: ReadonlySet<number> = new Set([3, -32015])
/** Catch-all codes under which nodes report failures of the EVM along with everything else. */
const CATCH_ALL_CODES: ReadonlySet<number> = new Set([-32000, -32603])
const EVM_FAILURE =
  /revert|invalid ?(fe)?opcode|opcode .* not defined|invalid ?jump|out ?of ?gas|stack ?(under|over)flow|bad (instruction|jump)|vm execution/i
/** State that a node has pruned does not mean that it refuses the way of asking. */
const PRUNED = /missing trie|pruned|state.*(not available|unavailable|missing)|historical state|archive/i

export class StateReader {
  readonly #signal: AbortSignal
  /** Questions of this turn, by endpoint and block. */
  readonly #asked = new Map<Endpoint, Map<Hex, Asked[]>>()

  /** `signal` aborts all reads. */
  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** The raw result; throws a FeedError, or the signal's reason. */
  read(endpoint: Endpoint, question: Question, signal: AbortSignal): Promise<unknown> {
    const blocks = this.#asked.get(endpoint) ?? new Map<Hex, Asked[]>()
    this.#asked.set(endpoint, blocks)
    const together = blocks.get(question.blockHash) ?? []
    blocks.set(question.blockHash, together)
    const answer = new Promise((resolve, reject) => {
      together.push({ question, signal, resolve, reject })
      if (together.length === 1) setImmediate(() => this.#send(endpoint, question.blockHash))
    })
    return untilAborted(answer, signal)
  }

  #send(endpoint: Endpoint, blockHash: Hex): void {
    const asked = this.#asked.get(endpoint)?.get(blockHash) ?? []
    this.#asked.get(endpoint)?.delete(blockHash)
    if (this.#asked.get(endpoint)?.size === 0) this.#asked.delete(endpoint)
    const questions = asked.map(({ question }) => question)
    const signals = asked.map(({ signal }) => signal)
    readTogether(endpoint, blockHash, questions, AbortSignal.any([this.#signal, allOf(signals)])).then(
      outcomes => {
        for (const [at, { resolve, reject }] of asked.entries()) {
          const outcome = outcomes[at]
          if (outcome !== undefined && 'error' in outcome) reject(outcome.error)
          else resolve(outcome?.result)
        }
      },
      (failure: unknown) => {
        for (const { reject } of asked) reject(failure)
      },
    )
  }
}

/** Aborted once every caller has given up. */
function allOf(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  const look = (): void => {
    if (signals.every(({ aborted }) => aborted)) controller.abort(signals[0]?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', look, { once: true })
  look()
  return controller.signal
}

async function readTogether(
  endpoint: Endpoint,
  blockHash: Hex,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<readonly Settled[]> {
  const { abilities } = endpoint
  if (!abilities.has(BY_HASH)) return readByNumber(endpoint, blockHash, questions, signal)
  const outcomes = await requestAll(endpoint, callsAt(questions, { blockHash }), signal)
  const refusal = outcomes.find(each => 'error' in each && isRefused(each.error))
  if (refusal === undefined || !('error' in refusal)) {
    if (outcomes.some(each => 'result' in each)) abilities.answered(BY_HASH)
    return outcomes
  }
  // Only if the answer by number succeeds was the hash the reason for the refusal.
  const byNumber = await readByNumber(endpoint, blockHash, questions, signal)
  if (byNumber.some(each => 'result' in each || isRevert(each.error)))
    abilities.refused(BY_HASH, refusal.error)
  return byNumber
}

async function readByNumber(
  endpoint: Endpoint,
  blockHash: Hex,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<readonly Settled[]> {
  const { number } = await fetchHeaderByHash(endpoint, blockHash, signal)
  await expectAt(endpoint, number, blockHash, signal)
  const outcomes = await requestAll(endpoint, callsAt(questions, `0x${number.toString(16)}`), signal)
  await expectAt(endpoint, number, blockHash, signal)
  return outcomes
}

async function expectAt(
  endpoint: Endpoint,
  number: number,
  blockHash: Hex,
  signal: AbortSignal,
): Promise<void> {
  const { hash } = await fetchHeaderByNumber(endpoint, number, signal)
  if (hash !== blockHash) throw unknown(endpoint, `${number} as ${blockHash}, but as ${hash}`)
}

const callsAt = (questions: readonly Question[], block: unknown): readonly Call[] =>
  questions.map(({ method, subject }) => ({ method, params: [subject, block] }))

/** True when the error is neither the call's own failure nor a missing block or state. */
const isRefused = (error: FeedError): boolean =>
  error.code === 'METHOD_MISSING' ||
  (error.code === 'RPC_ERROR' &&
    !isRevert(error) &&
    !isUnknownBlock(error) &&
    !PRUNED.test(error.rpcMessage ?? ''))

export function isRevert(error: unknown): boolean {
  if (!isFeedError(error, 'RPC_ERROR') || error.rpcCode === null) return false
  return (
    REVERT_CODES.has(error.rpcCode) ||
    (CATCH_ALL_CODES.has(error.rpcCode) && EVM_FAILURE.test(error.rpcMessage ?? ''))
  )
}
