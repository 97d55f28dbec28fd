/** A block with its logs, every part of it from the same endpoint and checked against its header. */
import type { Hex } from '../ops/config.ts'
import type { Endpoint } from './endpoint.ts'
import type { VerifiedBlock } from './feed.ts'
import { fetchHeaderByHash, fetchHeaderByNumber, type Header } from './header.ts'
import { fetchLogs, type LogAnswer, verifyLogs } from './receipts.ts'

/** By hash in one round trip; by number in two, since receipts are asked for by hash alone. */
export async function fetchBlock(
  endpoint: Endpoint,
  chainId: number,
  which: Hex | number,
  signal: AbortSignal,
): Promise<VerifiedBlock> {
  const [header, answer] =
    typeof which === 'number'
      ? await fetchInTurn(endpoint, which, signal)
      : await Promise.all([fetchHeaderByHash(endpoint, which, signal), fetchLogs(endpoint, which, signal)])
  const { proof, logs } = await verifyLogs(endpoint, chainId, header, answer)
  const { number, hash, parentHash, timeMs } = header
  return { number, hash, timeMs, parentHash, proof, logs }
}

async function fetchInTurn(
  endpoint: Endpoint,
  number: number,
  signal: AbortSignal,
): Promise<[Header, LogAnswer]> {
  const header = await fetchHeaderByNumber(endpoint, number, signal)
  return [header, await fetchLogs(endpoint, header.hash, signal)]
}
