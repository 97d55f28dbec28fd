/**
 * Simulated calls: against a block, with overridden code and balances. Not every node supports them, and a refusal says
 * nothing about the simulated call.
 */
import { type FeedError, isFeedError } from '../feedError.ts'

export type SimulatorMethod = 'eth_call' | 'eth_simulateV1' | 'eth_gasPrice'

export interface Simulator {
  /** The raw result. Throws a FeedError, or the signal's reason. */
  ask(method: SimulatorMethod, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
}

/** A general refusal: the node does not support the method, or not with these parameters. */
export const isRefusal = (error: unknown): boolean =>
  isFeedError(error) && (error.code === 'METHOD_MISSING' || error.code === 'RPC_ERROR') && !isLost(error)

/** The block is gone or not there yet; the caller retries at another block. */
const LOST =
  /(block|header|hash)\b.*(not found|unknown|missing)|missing trie|pruned|state.*(unavailable|missing)/i

const isLost = (error: FeedError): boolean => LOST.test(error.rpcMessage ?? '')
