/**
 * Follows the system calls of a process that commits: every acknowledgement must come after a sync of the
 * write-ahead log that came after the last write to it (S3).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMMITTER = fileURLToPath(new URL('./committer.ts', import.meta.url))

/** With the paths of descriptors; the main thread alone, because that is where SQLite runs. */
const STRACE = [
  '-y',
  '-s',
  '16',
  '-e',
  'trace=pwrite64,pwritev,write,fsync,fdatasync',
  '-e',
  'signal=none',
  '--',
]

export type FsyncReport = {
  readonly acknowledged: number
  /** Acknowledgements that were written while something of the log was not yet synced, or without any sync. */
  readonly early: number
}

/** The reason when this system does not let us trace. */
export function traceCommits(address: string, steps: number): FsyncReport | { readonly refused: string } {
  const folder = mkdtempSync(join(tmpdir(), 'assay-trace-'))
  // A separate file: the process's own output could fall into the middle of a line.
  const trace = join(folder, 'trace')
  try {
    const { error, status, stderr } = spawnSync(
      'strace',
      ['-o', trace, ...STRACE, process.execPath, COMMITTER, JSON.stringify({ address, chainId: 1, steps })],
      { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
    )
    if (error !== undefined) return { refused: error.message }
    if (status !== 0) return { refused: stderr.slice(-500) }
    return reportOf(readFileSync(trace, 'utf8').split('\n'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function reportOf(lines: readonly string[]): FsyncReport {
  let [acknowledged, early, dirty, synced] = [0, 0, 0, 0]
  for (const line of lines) {
    if (/^(pwrite64|pwritev|write)\(\d+<[^>]*-wal>/.test(line)) dirty++
    else if (/^(fsync|fdatasync)\(\d+<[^>]*-wal>\)\s+= 0/.test(line)) {
      synced += dirty
      dirty = 0
    } else if (/^write\(1<[^>]*>, "\{\\"step\\":/.test(line)) {
      acknowledged++
      if (dirty > 0 || synced === 0) early++
      synced = 0
    }
  }
  return { acknowledged, early }
}
