/**
 * Calls against the chain at a block hash, on the best endpoint, with a limited number of attempts on others. A revert
 * is an answer, and the same on every node; anything else is a failure.
 */
import type { Hex } from '../../ops/hex.ts'
import { pause } from '../conditionVariable.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import type { ChainRpc } from '../feed.ts'
import { FeedError, isFeedError } from '../feedError.ts'
import { isRevert, StateReader } from './stateReader.ts'

/** Rounds over all usable endpoints. */
const ROUNDS = 3
/** The longest wait for an endpoint to become usable again. */
const WAIT_MS = 1000
/** Pause between rounds when all of them answered but none knew the block: it may be about to arrive. */
const ROUND_PAUSE_MS = 50

type StateMethod = 'eth_call' | 'eth_getCode'

export function createChainRpc(endpoints: EndpointSet, closed: AbortSignal): ChainRpc {
  const reader = new StateReader(closed)
  const ask = (method: StateMethod, subject: unknown, blockHash: Hex, signal: AbortSignal | undefined) =>
    askAll(endpoints, reader, { method, subject, blockHash }, merged(signal, closed))
  return {
    async call(to, data, blockHash, signal) {
      try {
        return await ask('eth_call', { to, data }, blockHash, signal)
      } catch (error) {
        if (isRevert(error)) return null
        throw error
      }
    },
    code: (address, blockHash, signal) => ask('eth_getCode', address, blockHash, signal),
  }
}

const merged = (signal: AbortSignal | undefined, closed: AbortSignal): AbortSignal =>
  signal === undefined ? closed : AbortSignal.any([signal, closed])

async function askAll(
  endpoints: EndpointSet,
  reader: StateReader,
  question: Parameters<StateReader['read']>[1],
  signal: AbortSignal,
): Promise<Hex> {
  const { method } = question
  const read = async (endpoint: Endpoint, until: AbortSignal): Promise<Hex> => {
    const answer = await reader.read(endpoint, question, until)
    if (typeof answer === 'string' && /^0x([0-9a-f]{2})*$/i.test(answer)) return answer.toLowerCase() as Hex
    const error = new FeedError('ANSWER_MALFORMED', endpoint.name, `${method} did not answer with bytes`)
    endpoint.blame(error)
    throw error
  }
  for (let round = 1; ; round++) {
    signal.throwIfAborted()
    try {
      return await endpoints.attempt(read, isRevert, { method, signal })
    } catch (error) {
      if (!isFeedError(error) || isRevert(error) || round === ROUNDS) throw error
    }
    await pause(Math.min(Math.max(endpoints.waitMs(), ROUND_PAUSE_MS), WAIT_MS), signal)
  }
}
