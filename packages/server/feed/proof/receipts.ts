/**
 * The logs of a block with the proof that they are complete. If the receipts do not give the root in the header, or the
 * logs do not belong to the block or are not numbered from 0 without a gap, the block is refused and the endpoint is at
 * fault.
 */
import { decodeAnswer } from '../answers/answer.ts'
import { bloomOf } from './bloom.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { VerifiedBlock } from '../feed.ts'
import { type Header, refused } from './header.ts'
import type { LogAnswer } from './logFallback.ts'
import { isRootOwn, ownLogs, proveReceipts } from './receiptsProof.ts'

/** Throws BLOCK_REFUSED unless the response belongs to this block and is complete as far as can be determined. */
export function verifyLogs(
  endpoint: Endpoint,
  header: Header,
  answer: LogAnswer,
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  if (answer.kind === 'receipts') return verifyReceipts(endpoint, header, answer.items)
  const logs = decodeAnswer(endpoint.name, 'logs', () => ownLogs(header, answer.items))
  if (isRootOwn(header, endpoint.proofRules) && bloomOf(logs) !== header.logsBloom)
    throw refused(endpoint, `the logs of block ${header.number} ${header.hash} do not give its bloom`)
  return { proof: 'none', logs }
}

function verifyReceipts(
  endpoint: Endpoint,
  header: Header,
  items: readonly unknown[],
): Pick<VerifiedBlock, 'proof' | 'logs'> {
  const prove = () => proveReceipts(header, items, endpoint.proofRules)
  return decodeAnswer(endpoint.name, 'receipts', prove)
}
