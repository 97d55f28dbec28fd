/**
 * Logs, services of their own over them, and exports of them into folders: every test file opens one and closes it. The
 * same steps at the same times are the same records.
 */
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../cli/testing/session.ts'
import { openTestApi, type TestApi } from '../../endToEnd/testing/testApi.ts'
import { unsealed } from '../../store/envelope.ts'
import { address, poolFacts, swap } from '../../store/testing/drafts.ts'
import { CHAIN, marketCommit, TOKEN } from '../../webhooks/testing/script.ts'

export const STEP_MS = 7000
/** The begin of a minute. */
export const BEGIN_MS = 1_763_000_040_000
const pool = poolFacts('pool', TOKEN, address('usd'))

export type Service = { readonly api: TestApi; readonly env: Readonly<Record<string, string>> }

export async function commit({ api }: Service, step: number, beginMs = BEGIN_MS): Promise<void> {
  const made = marketCommit(step)
  const swaps = Array.from({ length: step % 4 }, (_, at) => unsealed(swap(CHAIN, pool, at)))
  await api.store.commit({ ...made, records: [...made.records, ...swaps], atMs: beginMs + step * STEP_MS })
}

async function rowsIn(path: string): Promise<unknown[]> {
  if (path.endsWith('.parquet')) return parquetReadObjects({ file: await asyncBufferFromFile(path) })
  const lines = readFileSync(path, 'utf8')
    .split(/\r?\n/)
    .filter(line => line !== '')
  return path.endsWith('.csv') ? lines.slice(1) : lines
}

export function openFolders() {
  const root = mkdtempSync(join(tmpdir(), 'assay-folder-'))
  const services: Service[] = []
  const filesIn = (folder: string): string[] =>
    readdirSync(join(root, folder)).filter(name => /\.(csv|ndjson|parquet)$/.test(name))
  return {
    root,
    filesIn,

    /** With a log of its own. */
    serviceOf: async (steps: number, beginMs = BEGIN_MS): Promise<Service> => {
      const api = await openTestApi()
      const service = { api, env: { ASSAY_URL: api.url, ASSAY_KEY: await api.key() } }
      services.push(service)
      for (let step = 1; step <= steps; step++) await commit(service, step, beginMs)
      return service
    },

    exported: ({ env }: Service, ...args: readonly string[]) =>
      run('a pipe', ['export', ...args, '--every', '1m'], { env, cwd: root }),

    lastIn: (folder: string): number => Number(/-(\d{16})\./.exec(filesIn(folder).at(-1) ?? '')?.[1]),

    /** The rows of all files, in the order of their names, which is that of a shell and of DuckDB. */
    joined: async (folder: string): Promise<unknown[]> => {
      const rows: unknown[] = []
      for (const name of filesIn(folder)) rows.push(...(await rowsIn(join(root, folder, name))))
      return rows
    },

    inOnePiece: async (
      { api, env }: Service,
      kind: string,
      format: string,
      to: number,
    ): Promise<unknown[]> => {
      const answer = await fetch(`${api.url}/v1/export?kind=${kind}&format=${format}&to_sequence=${to}`, {
        headers: { authorization: `Bearer ${env['ASSAY_KEY']}` },
      })
      const path = join(root, `whole.${format}`)
      writeFileSync(path, Buffer.from(await answer.arrayBuffer()))
      return rowsIn(path)
    },

    close: async (): Promise<void> => {
      for (const { api } of services) await api.close()
      rmSync(root, { recursive: true })
    },
  }
}
