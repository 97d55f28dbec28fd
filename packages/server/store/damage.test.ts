/** S19: bytes flipped in the main file of a database. The check names table and page in words, whatever byte it was. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkStore } from './check.ts'
import { openReader } from './openStore.ts'
import { StoreError } from './storeError.ts'
import { databaseAt } from './testing/connect.ts'
import { generator } from './testing/generator.ts'
import { commitOf, health } from './testing/drafts.ts'
import { scriptedCommit } from './testing/script.ts'
import { seedOfRun } from '../../world/seed.ts'

const SEED = seedOfRun()
const RANDOM_FLIPS = 24
const PARSER_WORDS = /Unexpected|valid JSON|at position|undefined|is not a function|Cannot read/

type Page = { readonly page: number; readonly table: string; readonly kind: string; readonly cells: number }

let folder: string
let sound: string
let pageBytes: number
let pages: readonly Page[]
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assay-damage-'))
  sound = join(folder, 'sound.db')
  const database = databaseAt(`sqlite:${sound}`, async () => undefined)
  const store = await database.connect()
  for (let step = 1; step <= 30; step++) await store.commit(scriptedCommit(1, step))
  // A row of the log and an entity that span several pages, and cannot be made shorter.
  const next = generator(SEED)
  const long = Array.from({ length: 3_000 }, () => next().toString(36)).join(' ')
  const entities = [{ key: 'long', text: JSON.stringify(long) }]
  await store.commit(commitOf(1, 31, { records: [health(1, long)], entities }))
  await database.dispose()
  const raw = new DatabaseSync(sound)
  pageBytes = (raw.prepare('PRAGMA page_size').get() as { page_size: number }).page_size
  pages = raw
    .prepare('SELECT pageno AS page, name AS "table", pagetype AS kind, ncell AS cells FROM dbstat')
    .all() as unknown as Page[]
  raw.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

let copies = 0
/** A copy with bytes of a page changed. */
function damaged(page: number, change: (bytes: Buffer) => void): string {
  const path = join(folder, `damaged-${copies++}.db`)
  const bytes = readFileSync(sound)
  change(bytes.subarray((page - 1) * pageBytes, page * pageBytes))
  writeFileSync(path, bytes)
  copyFileSync(`${sound}.mark`, `${path}.mark`)
  return path
}

async function faultsOf(path: string): Promise<readonly string[]> {
  const reader = await openReader(`sqlite:${path}`)
  try {
    return (await checkStore(reader)).faults
  } catch (failure) {
    if (failure instanceof StoreError && failure.code === 'STORE_CORRUPT') return [failure.message]
    throw failure
  } finally {
    await reader.close()
  }
}

const pageWhere = (isWanted: (page: Page) => boolean): Page => pages.find(isWanted) as Page
const invert = (bytes: Buffer, at: number) => bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)

describe('the check', () => {
  test.each(['log', 'entity', 'token_price', 'pool_event'])(
    'names the page of a byte flipped in a text of %s',
    async table => {
      const { page } = pageWhere(each => each.table === table && each.kind === 'leaf' && each.cells > 0)
      // The first row written to a page stands last in it, and texts are the end of every row.
      const faults = await faultsOf(damaged(page, bytes => invert(bytes, pageBytes - 3)))
      expect(faults).toContainEqual(expect.stringContaining(`table ${table}, page ${page}: the `))
      expect(faults.join('\n')).not.toMatch(PARSER_WORDS)
    },
  )

  test('names the page on which a long text continues', async () => {
    const { page } = pageWhere(({ table, kind }) => table === 'log' && kind === 'overflow')
    const faults = await faultsOf(damaged(page, bytes => invert(bytes, 2000)))
    expect(faults).toContainEqual(
      expect.stringMatching(new RegExp(`^table log, page ${page}: the body of sequences`)),
    )
  })

  test.each([
    ['log', 'the body of sequences'],
    ['entity', 'the text of chain 1'],
  ])('names the page of a text of %s that is UTF-8 and no JSON', async (name, said) => {
    const { page } = pageWhere(({ table, kind }) => table === name && kind === 'overflow')
    const faults = await faultsOf(damaged(page, bytes => bytes.fill('"', 1000, 1003)))
    expect(faults).toContainEqual(expect.stringContaining(`table ${name}, page ${page}: ${said}`))
    expect(faults.join('\n')).not.toMatch(PARSER_WORDS)
  })

  test.each(['log', 'entity', 'pool_state'])(
    'names the table of a page of %s that is no longer valid',
    async table => {
      const { page } = pageWhere(each => each.table === table && each.kind === 'leaf')
      const faults = await faultsOf(damaged(page, bytes => bytes.fill(0xff, 0, 8)))
      expect(faults).toContainEqual(
        expect.stringMatching(new RegExp(`table ${table}.* page ${page}: damaged`)),
      )
      expect(faults.join('\n')).not.toMatch(PARSER_WORDS)
    },
  )

  test('names the first page when nothing can be read', async () => {
    const path = damaged(1, bytes => bytes.fill(0xff, 0, 200))
    await expect(openReader(`sqlite:${path}`)).rejects.toMatchObject({
      code: 'STORE_CORRUPT',
      message: expect.stringContaining('page 1'),
    })
  })

  test(`shows no parser's message for any of ${RANDOM_FLIPS} flips anywhere`, async () => {
    const next = generator(SEED)
    const count = readFileSync(sound).length / pageBytes
    for (let flip = 0; flip < RANDOM_FLIPS; flip++) {
      const page = 1 + (next() % count)
      const at = next() % pageBytes
      const path = damaged(page, bytes => invert(bytes, at))
      const said = await faultsOf(path).catch((failure: Error & { code?: string }) => {
        expect(failure.code, `seed ${SEED}, page ${page}, byte ${at}: ${failure.message}`).toMatch(/^STORE_/)
        return [failure.message]
      })
      expect(said.join('\n'), `seed ${SEED}, page ${page}, byte ${at}`).not.toMatch(PARSER_WORDS)
    }
  })
})
