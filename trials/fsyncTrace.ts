/** Traces the system calls of 1,000 commits: each must be synced before it is acknowledged (faults S3). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { traceCommits } from '../packages/server/store/testing/fsyncTrace.ts'
import { commandLine } from './commandLine.ts'

commandLine('npm run test:fsync', {})

const COMMITS = 1_000

const folder = mkdtempSync(join(tmpdir(), 'assay-fsync-'))
try {
  const report = traceCommits(`sqlite:${join(folder, 'assay.db')}`, COMMITS)
  if ('refused' in report) console.log(`system calls cannot be traced here: ${report.refused}`)
  else {
    console.log(`${report.acknowledged} commits acknowledged, ${report.early} of them before their sync`)
    if (report.early > 0 || report.acknowledged !== COMMITS) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true })
}
