/**
 * Makes copies of a block with one change each: every field of the header, of receipts and of logs, and receipts or logs that
 * are missing, duplicated, forged or reordered.
 */
import { stateSyncHash } from '../../packages/server/feed/proof/stateSync.ts'
import type { Hex } from '../../packages/server/ops/hex.ts'
import type { CapturedBlock, Fields } from './readBlocks.ts'
import type { Items } from './verdict.ts'

export type Copy = { readonly what: string; readonly header: Fields | null; readonly items: Items | null }

/** `decoded`: the receipts as entries, shared by all copies except for the changed one. */
export function* copiesOf(block: CapturedBlock, decoded: Items | null, most: number): Generator<Copy> {
  const { header, receipts } = block
  if (header !== null)
    for (const name of Object.keys(header))
      for (const value of changes(header[name]))
        yield { what: `header.${name}`, header: { ...header, [name]: value }, items: decoded }
  if (header === null || receipts === null || decoded === null) return
  const withItem = (what: string, at: number, receipt: Fields): Copy => ({
    what,
    header,
    items: decoded.with(at, receipt),
  })
  for (const at of spread(receipts.length, most)) {
    const receipt = receipts[at] as Fields
    for (const [what, changed] of changedReceipts(receipt)) yield withItem(what, at, changed)
  }
  const withLogs = receipts.flatMap((receipt, at) => (logsOf(receipt).length > 0 ? [at] : []))
  for (const place of spread(withLogs.length, most)) {
    const at = withLogs[place] as number
    for (const [what, changed] of changedLogs(receipts[at] as Fields)) yield withItem(what, at, changed)
  }
  yield* rearranged(header, decoded, receipts)
}

function* changedReceipts(receipt: Fields): Generator<readonly [string, Fields]> {
  for (const name of Object.keys(receipt)) {
    if (name === 'logs') continue
    for (const value of changes(receipt[name])) yield [`receipt.${name}`, { ...receipt, [name]: value }]
  }
}

function* changedLogs(receipt: Fields): Generator<readonly [string, Fields]> {
  const logs = logsOf(receipt)
  const last = logs.at(-1) as Fields
  const withLast = (log: Fields): Fields => ({ ...receipt, logs: [...logs.slice(0, -1), log] })
  for (const name of Object.keys(last))
    for (const value of changes(last[name])) yield [`log.${name}`, withLast({ ...last, [name]: value })]
  yield ['a log is missing', { ...receipt, logs: logs.slice(0, -1) }]
  yield ['a log comes twice', { ...receipt, logs: [...logs, last] }]
}

function* rearranged(header: Fields, decoded: Items, receipts: readonly Fields[]): Generator<Copy> {
  const copy = (what: string, items: Items): Copy => ({ what, header, items })
  if (decoded.length > 0) yield copy('a receipt is missing', decoded.slice(0, -1))
  if (decoded.length > 1) yield copy('the first receipt is missing', decoded.slice(1))
  if (decoded.length > 1) yield copy('receipts in another order', decoded.toReversed())
  if (decoded.length > 0) yield copy('no receipts', [])
  const [first] = receipts
  if (first === undefined) return
  yield copy('a receipt comes twice', [...decoded, first])
  const transactionHash = stateSyncHash({ number: Number(header['number']), hash: header['hash'] as Hex })
  const transactionIndex = `0x${decoded.length.toString(16)}`
  const logs = receipts.flatMap(logsOf).map((log, at) => ({
    ...log,
    transactionHash,
    transactionIndex,
    logIndex: `0x${(receipts.flatMap(logsOf).length + at).toString(16)}`,
  }))
  yield copy('a forged state sync', [
    ...decoded,
    { ...first, type: '0x0', transactionHash, transactionIndex, logs },
  ])
}

const logsOf = (receipt: Fields): readonly Fields[] => (receipt['logs'] ?? []) as readonly Fields[]

/** Other values of the same type, and none at all. */
function* changes(value: unknown): Generator {
  if (typeof value === 'string') {
    yield otherText(value)
    if (value.startsWith('0x') && value.length > 4) yield value.slice(0, -2)
  } else if (typeof value === 'boolean') yield !value
  else if (typeof value === 'number') yield value + 1
  else if (value === null) yield '0x1'
  else if (Array.isArray(value)) {
    if (value.length > 0) yield value.slice(1)
    yield [...value, value[0] ?? `0x${'17'.repeat(32)}`]
  }
  if (value !== undefined) yield undefined
}

/** With another last digit. */
function otherText(text: string): string {
  const last = text.at(-1) ?? ''
  const digit = /[0-9a-f]/i.test(last) ? ((Number.parseInt(last, 16) + 1) % 16).toString(16) : `${last}1`
  return text === '0x' ? '0x01' : text.slice(0, -1) + digit
}

/** At most `most` indices, spread evenly, with the first and the last. */
function spread(length: number, most: number): readonly number[] {
  if (length <= most) return Array.from({ length }, (_, at) => at)
  return Array.from({ length: most }, (_, n) => Math.round((n * (length - 1)) / (most - 1)))
}
