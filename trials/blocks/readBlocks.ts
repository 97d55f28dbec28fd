/**
 * Reads captured blocks of any layout, recognised by content and not by file name: headers with or without transactions,
 * lists of receipts, both in one file, lists or maps of them, answers in their JSON-RPC envelope.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

export type Fields = Readonly<Record<string, unknown>>

export type CapturedBlock = {
  /** The file with its header; without a header, the file with its receipts. */
  readonly file: string
  /** The key it has in a map of blocks. */
  readonly key?: string
  /** Null where there are only receipts. */
  readonly header: Fields | null
  /** Null where there is only a header. */
  readonly receipts: readonly Fields[] | null
}

type Found = {
  readonly headers: { readonly file: string; readonly key?: string; readonly fields: Fields }[]
  readonly receipts: { readonly file: string; readonly list: readonly Fields[] }[]
}

/** No known layout nests deeper. */
const MAX_DEPTH = 6
/** Keys that name the kind of content, not the chain. */
const PLACES: ReadonlySet<string> = new Set(['result', 'block', 'header', 'headers'])
/** Keys whose values never contain a header or a list of receipts. */
const BODIES: ReadonlySet<string> = new Set(['transactions', 'logs', 'withdrawals', 'uncles', 'accessList'])

export function readBlocks(folder: string): readonly CapturedBlock[] {
  const found: Found = { headers: [], receipts: [] }
  for (const file of jsonFiles(folder)) collect(parsed(file), file, found, 0)
  const rest = new Set(found.receipts)
  const blocks = uniqueHeaders(found).map(({ file, key, fields }): CapturedBlock => {
    const own = found.receipts.find(each => belongsTo(each, file, fields))
    if (own !== undefined) rest.delete(own)
    return { file, ...(key === undefined ? {} : { key }), header: fields, receipts: own?.list ?? null }
  })
  const alone = [...rest].filter(({ list }) => list.length > 0)
  return [...blocks, ...alone.map(({ file, list }) => ({ file, header: null, receipts: list }))]
}

function jsonFiles(folder: string): readonly string[] {
  if (statSync(folder).isFile()) return [folder]
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.filter(name => name.endsWith('.json')).map(name => join(folder, name))
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} is not JSON`, { cause: error })
  }
}

function collect(value: unknown, file: string, found: Found, depth: number, key?: string): void {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return
  if (isReceipt(value)) found.receipts.push({ file, list: [value] })
  else if (isHeader(value)) found.headers.push({ file, ...(key === undefined ? {} : { key }), fields: value })
  else if (Array.isArray(value)) collectList(value, file, found, depth)
  else
    for (const [key, each] of Object.entries(value))
      if (!BODIES.has(key)) collect(each, file, found, depth + 1, PLACES.has(key) ? undefined : key)
}

function collectList(list: readonly unknown[], file: string, found: Found, depth: number): void {
  if (list.every(each => isReceipt(each))) found.receipts.push({ file, list })
  else for (const each of list) collect(each, file, found, depth + 1)
}

const isReceipt = (value: unknown): value is Fields =>
  hasAll(value, ['transactionHash', 'blockHash', 'cumulativeGasUsed', 'logs'])
const isHeader = (value: unknown): value is Fields =>
  hasAll(value, ['hash', 'parentHash', 'number', 'receiptsRoot'])

const hasAll = (value: unknown, keys: readonly string[]): boolean =>
  typeof value === 'object' && value !== null && keys.every(key => key in value)

/** One header per hash: the one with more fields. */
function uniqueHeaders({ headers }: Found): Found['headers'] {
  const byHash = new Map<unknown, Found['headers'][number]>()
  for (const each of headers) {
    const other = byHash.get(each.fields['hash'])
    if (other === undefined || Object.keys(other.fields).length < Object.keys(each.fields).length)
      byHash.set(each.fields['hash'], each)
  }
  return [...byHash.values()]
}

/** An empty list names no block, so it is matched by file name: 1-7-receipts.json belongs to 1-7-block.json. */
function belongsTo({ file, list }: Found['receipts'][number], headerFile: string, header: Fields): boolean {
  const [first] = list
  if (first !== undefined) return first['blockHash'] === header['hash'] && !isPartOf(list, header)
  return (
    file !== headerFile && file.replace('receipts', 'block') === join(headerFile, '..', basename(headerFile))
  )
}

/** A single receipt of a block with more transactions. */
function isPartOf(list: readonly Fields[], header: Fields): boolean {
  const transactions = header['transactions']
  return list.length === 1 && Array.isArray(transactions) && transactions.length > 1
}
