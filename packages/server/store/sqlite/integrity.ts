/** Damage that SQLite itself finds in the pages of a database, with the table each page belongs to. */
import type { StatementSync } from 'node:sqlite'
import { StoreError } from '../storeError.ts'
import { toStoreError } from './sqliteError.ts'

/** A connection or the bare database. */
type Prepares = { prepare(sql: string): Pick<StatementSync, 'all' | 'iterate'> }

/** `Tree 23 page 77 cell 0: invalid page number 194`, where 23 is the first page of a table or an index. */
const TREE = /^Tree (\d+) page (\d+)[^:]*: (.*)$/
const UNUSED = /^Page (\d+): never used$/
const INDEXED = / index (\S+)$/

export function integrityOf(database: Prepares): readonly string[] {
  const owners = ownersIn(database)
  const found = untilDamage<{ integrity_check: string }>(database, 'PRAGMA integrity_check(100)')
  const broken = untilDamage<{ table: string }>(database, 'PRAGMA foreign_key_check')
  const lines = found.rows.flatMap(row => row.integrity_check.split('\n'))
  return [
    ...lines.filter(line => line !== 'ok' && !line.startsWith('***')).map(line => inWords(line, owners)),
    ...broken.rows.map(({ table }) => `table ${table}: a row refers to one that is not there`),
    ...(found.isWhole && broken.isWhole ? [] : ['SQLite could not check all of its pages']),
  ]
}

/** A check stops at a page it cannot get past; everything it found before is kept. */
function untilDamage<Row>(database: Prepares, sql: string): { rows: readonly Row[]; isWhole: boolean } {
  const rows: Row[] = []
  try {
    for (const row of database.prepare(sql).iterate() as unknown as Iterable<Row>) rows.push(row)
    return { rows, isWhole: true }
  } catch (error) {
    const failure = toStoreError(error)
    if (failure instanceof StoreError && failure.code === 'STORE_CORRUPT') return { rows, isWhole: false }
    throw error
  }
}

type Owner = { readonly name: string; readonly root: number; readonly words: string }

function ownersIn(database: Prepares): readonly Owner[] {
  const rows = database
    .prepare('SELECT type, name, tbl_name AS owner, rootpage AS root FROM sqlite_schema WHERE rootpage > 0')
    .all() as { type: string; name: string; owner: string; root: number }[]
  return rows.map(({ type, name, owner, root }) => ({
    name,
    root,
    words: type === 'index' ? `table ${owner}, its index ${name}` : `table ${owner}`,
  }))
}

function inWords(line: string, owners: readonly Owner[]): string {
  const [, root, page, what] = TREE.exec(line) ?? []
  if (page !== undefined) {
    const owner = root === '1' ? 'the list of tables' : owners.find(each => each.root === Number(root))?.words
    return `${owner ?? 'a table that is no longer known'}, page ${page}: damaged (SQLite: ${what})`
  }
  const unused = UNUSED.exec(line)?.[1]
  if (unused !== undefined) return `page ${unused}: belongs to no table, though something did use it`
  const index = owners.find(each => each.name === INDEXED.exec(line)?.[1])
  return index === undefined ? `SQLite: ${line}` : `${index.words}: ${line}`
}
