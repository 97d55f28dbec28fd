/**
 * Detects from the last blocks of a chain what they prove: whether the fields of a header give its hash, and whether
 * the receipts, read as the service reads them, give its root. If the configuration differs, the finding contains the
 * line to paste.
 */
import { FieldError, toFields } from '../feed/answers/answer.ts'
import { proofRulesOf } from '../feed/proof/proofRules.ts'
import { DEPOSIT_TYPE, toReceiptEntry } from '../feed/answers/entry.ts'
import type { Endpoint } from '../feed/endpoints/endpoint.ts'
import { isFeedError } from '../feed/feedError.ts'
import { decodeHeader, type ListedHeader } from '../feed/proof/header.ts'
import { proveHeader } from '../feed/proof/headerHash.ts'
import { fetchLogs } from '../feed/proof/logFallback.ts'
import { proveReceipts } from '../feed/proof/receiptsProof.ts'
import type { ChainConfig, ProofRules } from '../config/config.ts'
import { type Check, fail, ok, sentenceOf, warn } from './check.ts'

/** `receipts` is null when the block had none or the node did not return them. */
type Seen = {
  readonly header: ProofRules['header']
  readonly receipts: ProofRules['receipts'] | null
  readonly isSettling: boolean
}

/** The search ends at the first block with transactions, or after this many. */
const MOST_BLOCKS = 5

const ANOTHER = 'add an endpoint of another provider: two that agree prove a block'

/** What the last blocks prove, compared with the configuration. */
export async function probeProof(
  chain: ChainConfig,
  endpoint: Endpoint,
  head: number,
  signal: AbortSignal,
): Promise<Check> {
  let seen: Seen | null = null
  try {
    for (let number = head; number >= 0 && number > head - MOST_BLOCKS; number--) {
      seen = (await lookAt(endpoint, number, signal)) ?? seen
      if (seen !== null && (seen.receipts !== null || seen.header === 'opaque')) break
    }
  } catch (error) {
    if (!isFeedError(error)) throw error
    return fail('proof', sentenceOf(error), 'use a node of this chain that returns complete blocks')
  }
  if (seen === null)
    return warn('proof', 'the node returned no block', 'run it again when the node serves blocks')
  return checkOf(chain, seen)
}

function checkOf(chain: ChainConfig, seen: Seen): Check {
  const isAlone = chain.endpoints.length === 1
  const configured = proofRulesOf(chain)
  const found: ProofRules = { header: seen.header, receipts: seen.receipts ?? configured.receipts }
  const paste = `add this to the section of chain ${chain.chainId}: ${yamlOf(found)}`
  const isOverstated =
    (configured.header === 'standard' && found.header === 'opaque') ||
    (configured.receipts !== 'none' && found.receipts === 'none')
  if (isOverstated)
    return fail(
      'proof',
      `${wordsOf(found)}, so every block would be refused`,
      isAlone ? `${paste}; and ${ANOTHER}` : paste,
    )
  if (seen.isSettling) return settling(isAlone)
  const isUnderstated =
    (configured.header === 'opaque' && found.header === 'standard') ||
    (configured.receipts === 'none' && found.receipts !== 'none')
  if (isUnderstated) return warn('proof', `${wordsOf(found)}, and the configuration does not use it`, paste)
  if (seen.receipts === null)
    return ok('proof', `${wordsOf(found).split(',')[0]}; no receipts in the last ${MOST_BLOCKS} blocks`)
  return ok(
    'proof',
    found.receipts === configured.receipts ? wordsOf(found) : `${wordsOf(found)} (${yamlOf(found)})`,
  )
}

function settling(isAlone: boolean): Check {
  const value = 'receipts are proven by a later block, which settles them'
  return isAlone
    ? warn('proof', value, `with one endpoint the chain stays DEGRADED (NO_PROOF) at its head; ${ANOTHER}`)
    : ok('proof', value)
}

const wordsOf = ({ header, receipts }: ProofRules): string =>
  [
    header === 'standard' ? 'headers give their hash' : 'headers do not give their hash',
    receipts === 'none'
      ? 'receipts do not give the root'
      : `receipts give the root${receipts === 'op_stack' ? ' (OP stack)' : ''}`,
  ].join(', ')

const yamlOf = ({ header, receipts }: ProofRules): string =>
  `proof: { header: ${header}, receipts: ${receipts} }`

/** Null when the node does not return the block, or returns a malformed one. */
async function lookAt(endpoint: Endpoint, number: number, signal: AbortSignal): Promise<Seen | null> {
  const asked = [`0x${number.toString(16)}`, false]
  const block = await given(() => endpoint.request('eth_getBlockByNumber', asked, signal))
  try {
    return block === null ? null : await seenIn(endpoint, block, signal)
  } catch (error) {
    if (error instanceof FieldError) return null
    throw error
  }
}

async function seenIn(endpoint: Endpoint, block: unknown, signal: AbortSignal): Promise<Seen> {
  const fields = toFields(block)
  const header = decodeHeader(fields, { header: 'opaque' })
  const isSettling = header.settledHeight !== null
  const rule = headerRule(() => proveHeader(fields, header.hash, { header: 'standard' }).isOwnHash)
  const answer = await given(() => fetchLogs(endpoint, header.hash, () => Promise.resolve(header), signal))
  const items = answer?.kind === 'receipts' ? answer.items : []
  const receipts = items.length === 0 || isSettling ? null : receiptsRule(header, items)
  return { header: rule, receipts, isSettling }
}

/** Null when the receipts lack a value that the root needs. */
function receiptsRule(header: ListedHeader, items: readonly unknown[]): Seen['receipts'] {
  try {
    const proven = { ...header, isOwnHash: true }
    if (proveReceipts(proven, items, { receipts: 'op_stack' }).proof === 'none') return null
    const hasDeposit = items.some(item => toReceiptEntry(item).type === DEPOSIT_TYPE)
    return hasDeposit ? 'op_stack' : 'standard'
  } catch (error) {
    if (error instanceof FieldError) return 'none'
    throw error
  }
}

function headerRule(prove: () => boolean): ProofRules['header'] {
  try {
    return prove() ? 'standard' : 'opaque'
  } catch (error) {
    if (error instanceof FieldError) return 'opaque'
    throw error
  }
}

/** Null when the node refuses the call; other checks report that. */
async function given<Result>(task: () => Promise<Result>): Promise<Result | null> {
  try {
    return await task()
  } catch (error) {
    // Only the endpoint itself checks the pinned block.
    if (isFeedError(error) && error.code !== 'ENDPOINT_IDENTITY') return null
    throw error
  }
}
