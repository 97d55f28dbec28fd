/**
 * Detects from the last blocks of a chain what they prove: whether the fields of a header give its hash, and whether the
 * receipts give its root. If the configuration differs, the finding has the line to paste.
 */
import { FieldError, toCount, toFields, toHash } from '../feed/answer.ts'
import { capabilitiesOf } from '../feed/capabilities.ts'
import { DEPOSIT_TYPE, toReceiptEntry } from '../feed/entry.ts'
import { isFeedError } from '../feed/feedError.ts'
import { proveHeader } from '../feed/headerHash.ts'
import { proveReceipts } from '../feed/receiptsProof.ts'
import type { ChainConfig, Hex, ProofRules } from '../ops/config.ts'
import { type Check, fail, ok, warn } from './check.ts'

type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>

/** `receipts` is null when the block had none or the node did not give them. */
type Seen = {
  readonly header: ProofRules['header']
  readonly receipts: ProofRules['receipts'] | null
  readonly isSettling: boolean
}

/** The search ends at the first block with transactions, or after this many. */
const MOST_BLOCKS = 5

const ANOTHER = 'add an endpoint of another provider: two that agree prove a block'

export async function probeProof(chain: ChainConfig, ask: Ask, head: number): Promise<Check> {
  let seen: Seen | null = null
  for (let number = head; number >= 0 && number > head - MOST_BLOCKS; number--) {
    seen = (await lookAt(ask, number)) ?? seen
    if (seen !== null && (seen.receipts !== null || seen.header === 'opaque')) break
  }
  if (seen === null)
    return warn('proof', 'the node gave no block', 'run it again when the node serves blocks')
  return checkOf(chain, seen)
}

function checkOf(chain: ChainConfig, seen: Seen): Check {
  const isAlone = chain.endpoints.length === 1
  const configured = capabilitiesOf(chain)
  const found: ProofRules = { header: seen.header, receipts: seen.receipts ?? configured.receipts }
  const paste = `put this into the section of chain ${chain.chainId}: ${yamlOf(found)}`
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

/** Null when the node does not give the block, or gives something malformed. */
async function lookAt(ask: Ask, number: number): Promise<Seen | null> {
  const block = await asked(() => ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false))
  try {
    return block === null ? null : await seenIn(ask, block)
  } catch (error) {
    if (error instanceof FieldError) return null
    throw error
  }
}

async function seenIn(ask: Ask, block: unknown): Promise<Seen> {
  const fields = toFields(block)
  const hash = toHash(fields, 'hash')
  const isSettling = proveHeader(fields, hash, { header: 'opaque' }).settledHeight !== null
  const header = isOwnHash(() => proveHeader(fields, hash, { header: 'standard' }).isOwnHash)
  const items = await asked(() => ask('eth_getBlockReceipts', hash))
  if (!Array.isArray(items) || items.length === 0 || isSettling) return { header, receipts: null, isSettling }
  const place = { number: toCount(fields, 'number'), hash, receiptsRoot: toHash(fields, 'receiptsRoot') }
  return { header, receipts: rulesOf(place, items), isSettling }
}

/** Null when the receipts lack a value that the root needs. */
function rulesOf(
  place: { readonly number: number; readonly hash: Hex; readonly receiptsRoot: Hex },
  items: readonly unknown[],
): Seen['receipts'] {
  try {
    const header = { ...place, transactions: null, isOwnHash: true, settledHeight: null }
    if (proveReceipts(header, items, { receipts: 'op_stack' }).proof === 'none') return null
    const hasDeposit = items.some(item => toReceiptEntry(item).type === DEPOSIT_TYPE)
    return hasDeposit ? 'op_stack' : 'standard'
  } catch (error) {
    if (error instanceof FieldError) return 'none'
    throw error
  }
}

function isOwnHash(prove: () => boolean): ProofRules['header'] {
  try {
    return prove() ? 'standard' : 'opaque'
  } catch (error) {
    if (error instanceof FieldError) return 'opaque'
    throw error
  }
}

/** Null when the node refuses the call; other checks report that. */
async function asked(task: () => Promise<unknown>): Promise<unknown> {
  try {
    return await task()
  } catch (error) {
    if (isFeedError(error)) return null
    throw error
  }
}
