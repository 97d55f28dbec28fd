/**
 * Captured blocks of any layout, told by what the JSON holds and not by how files are named: headers with or without
 * their transactions, lists of receipts, both in one file, lists or maps of them, answers in their JSON-RPC envelope.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'

export type Fields = Readonly<Record<string, unknown>>

export type CapturedBlock = {
  /** Where its header stands; of receipts alone, where they stand. */
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

/** Deeper than any layout; a file that nests further is none of ours. */
const MAX_DEPTH = 6
/** Keys that say what stands there, and not of which chain. */
const PLACES: ReadonlySet<string> = new Set(['result', 'block', 'header', 'headers'])
/** What never has a header or a list of receipts in it. */
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
    throw new Error(`${file} is not JSON: ${(error as Error).message}`)
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

/** Of the same block in two files, the one that says more. */
function uniqueHeaders({ headers }: Found): Found['headers'] {
  const byHash = new Map<unknown, Found['headers'][number]>()
  for (const each of headers) {
    const other = byHash.get(each.fields['hash'])
    if (other === undefined || Object.keys(other.fields).length < Object.keys(each.fields).length)
      byHash.set(each.fields['hash'], each)
  }
  return [...byHash.values()]
}

/** An empty list names no block: it belongs to the header beside it whose file has the same name otherwise. */
function belongsTo({ file, list }: Found['receipts'][number], headerFile: string, header: Fields): boolean {
  const [first] = list
  if (first !== undefined) return first['blockHash'] === header['hash'] && !isPartOf(list, header)
  return (
    file !== headerFile && file.replace('receipts', 'block') === join(headerFile, '..', basename(headerFile))
  )
}

/** A receipt by itself that was kept for what is odd about it. */
function isPartOf(list: readonly Fields[], header: Fields): boolean {
  const transactions = header['transactions']
  return list.length === 1 && Array.isArray(transactions) && transactions.length > 1
}
