/**
 * Calls against the chain at a block hash, over whichever endpoint is best, with a bounded number of tries on
 * others. A revert is an answer, and the same on every node; anything else is a failure.
 */
import type { Hex } from '../ops/config.ts'
import { pause } from './bell.ts'
import type { Endpoint } from './endpoint.ts'
import type { EndpointSet } from './endpointSet.ts'
import type { ChainRpc } from './feed.ts'
import { FeedError, isFeedError } from './feedError.ts'

/** Rounds over all usable endpoints. */
const ROUNDS = 3
/** The longest wait for an endpoint to be usable again. */
const WAIT_MS = 1000
/** Between rounds when all of them answered and none knew the block: it may be about to arrive. */
const ROUND_PAUSE_MS = 50

/** Execution reverted (geth and most); VM execution error (Parity and its heirs). */
const REVERT_CODES: ReadonlySet<number> = new Set([3, -32015])
/** Under their catch-all codes nodes put the EVM's own failures beside everything else. */
const CATCH_ALL_CODES: ReadonlySet<number> = new Set([-32000, -32603])
const EVM_FAILURE =
  /revert|invalid ?(fe)?opcode|opcode .* not defined|invalid ?jump|out ?of ?gas|stack ?(under|over)flow|bad (instruction|jump)|vm execution/i

export function createChainRpc(endpoints: EndpointSet, closed: AbortSignal): ChainRpc {
  return {
    async call(to, data, blockHash, signal) {
      try {
        const params = [{ to, data }, { blockHash }]
        return await ask(endpoints, 'eth_call', params, merged(signal, closed))
      } catch (error) {
        if (isRevert(error)) return null
        throw error
      }
    },
    code: (address, blockHash, signal) =>
      ask(endpoints, 'eth_getCode', [address, { blockHash }], merged(signal, closed)),
  }
}

const merged = (signal: AbortSignal | undefined, closed: AbortSignal): AbortSignal =>
  signal === undefined ? closed : AbortSignal.any([signal, closed])

async function ask(
  endpoints: EndpointSet,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<Hex> {
  for (let round = 1; ; round++) {
    signal.throwIfAborted()
    try {
      const fetch = (endpoint: Endpoint, until: AbortSignal) => askOne(endpoint, method, params, until)
      return await endpoints.attempt(fetch, isRevert, { method, signal })
    } catch (error) {
      if (!isFeedError(error) || isRevert(error) || round === ROUNDS) throw error
    }
    await pause(Math.min(Math.max(endpoints.waitMs(), ROUND_PAUSE_MS), WAIT_MS), signal)
  }
}

async function askOne(
  endpoint: Endpoint,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<Hex> {
  const answer = await endpoint.request(method, params, signal)
  if (typeof answer === 'string' && /^0x([0-9a-f]{2})*$/i.test(answer)) return answer.toLowerCase() as Hex
  const error = new FeedError('ANSWER_MALFORMED', endpoint.name, `${method} did not answer with bytes`)
  endpoint.blame(error)
  throw error
}

function isRevert(error: unknown): boolean {
  if (!isFeedError(error, 'RPC_ERROR') || error.rpcCode === null) return false
  return (
    REVERT_CODES.has(error.rpcCode) ||
    (CATCH_ALL_CODES.has(error.rpcCode) && EVM_FAILURE.test(error.rpcMessage ?? ''))
  )
}
