/** Redocly's linter over a description of the API, with every recommended rule. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const LINTER = join(
  dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
  'bin/cli.js',
)

/** What the linter says of a document, warnings included; empty when it says nothing. */
export function complaintsOf(document: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-lint-'))
  const file = join(folder, 'document.json')
  try {
    writeFileSync(file, JSON.stringify(document))
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [LINTER, 'lint', '--extends=recommended-strict', '--format=stylish', file],
      {
        encoding: 'utf8',
        cwd: folder,
        env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', CI: 'true' },
      },
    )
    return status === 0 ? '' : `exit ${status}: ${stdout}${stderr}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}
