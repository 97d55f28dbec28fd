/**
 * Calls as if: against a block, with code and balances that are not there. Not every node does them, and a refusal says
 * nothing of what was asked.
 */
import { type FeedError, isFeedError } from '../feedError.ts'

export type SimulatorMethod = 'eth_call' | 'eth_simulateV1' | 'eth_gasPrice'

export interface Simulator {
  /** The result as it was answered. Throws a FeedError, or the signal's reason. */
  ask(method: SimulatorMethod, params: readonly unknown[], signal: AbortSignal): Promise<unknown>
}

/** Answers that say no, whatever is asked: the node does not do it, or not with these parameters. */
export const isRefusal = (error: unknown): boolean =>
  isFeedError(error) && (error.code === 'METHOD_MISSING' || error.code === 'RPC_ERROR') && !isLost(error)

/** The block is not there any more, or not yet: asked again at another one. */
const LOST =
  /(block|header|hash)\b.*(not found|unknown|missing)|missing trie|pruned|state.*(unavailable|missing)/i

const isLost = (error: FeedError): boolean => LOST.test(error.rpcMessage ?? '')
