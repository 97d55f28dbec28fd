/**
 * `npm run test:openapi`: schemathesis over the whole OpenAPI of a running service, including every operator call, on
 * a local chain of its own and over loopback alone. It generates valid and invalid requests from the description, and
 * checks each response against it.
 *
 * Needs Python with schemathesis (`pip install schemathesis`): the program in ASSAY_SCHEMATHESIS, otherwise the one
 * on the PATH. ASSAY_OPENAPI_EXAMPLES=200 makes more requests per operation, ASSAY_OPENAPI_SECONDS=60 a shorter run.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { roomyKey } from '../packages/server/endToEnd/testing/roomy.ts'
import { startTestChain } from '../packages/server/endToEnd/testing/testChain.ts'
import { startTestService } from '../packages/server/endToEnd/testing/testService.ts'
import { commandLine } from './commandLine.ts'

commandLine(
  'npm run test:openapi\n  ASSAY_SCHEMATHESIS names the program, ASSAY_OPENAPI_EXAMPLES and ASSAY_OPENAPI_SECONDS its limits',
  {},
)

const PROGRAM = process.env['ASSAY_SCHEMATHESIS'] ?? 'schemathesis'
const EXAMPLES = process.env['ASSAY_OPENAPI_EXAMPLES'] ?? '20'
/** The limit of the whole run; anything not reached by then is not tried. */
const LONGEST_S = process.env['ASSAY_OPENAPI_SECONDS'] ?? '900'
/** The same requests in every run. */
const SEED = '1'

/**
 * The checks of schemathesis that are excluded, and why: the service may refuse a valid request for reasons only it
 * knows (an address without a token, a checksum, a future block), and after ten wrong keys in a minute the eleventh
 * correctly gets 429 where the check expects 401.
 */
const LEFT_OUT = ['positive_data_acceptance', 'ignored_auth']

const version = spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' })
if (version.status !== 0) {
  console.error(
    `test:openapi: ${PROGRAM} cannot be run here, so nothing was tested; install Python and \`pip install schemathesis\`, or name the program in ASSAY_SCHEMATHESIS`,
  )
  process.exit(1)
}
console.log(version.stdout.trim())

const folder = mkdtempSync(join(tmpdir(), 'assay-openapi-'))
const chain = await startTestChain()
const service = await startTestService(chain)
const key = await roomyKey(service)
try {
  process.exitCode = await new Promise<number>(resolve => {
    const words = [
      ['run', `${service.url}/openapi.json`],
      ['--header', `Authorization: Bearer ${key}`],
      ['--max-examples', EXAMPLES, '--max-time', LONGEST_S, '--seed', SEED, '--workers', '1'],
      ['--phases', 'examples,coverage,fuzzing', '--generation-database', ':memory:'],
      ['--exclude-checks', LEFT_OUT.join(','), '--request-timeout', '20', '--warnings', 'off', '--no-color'],
    ].flat()
    spawn(PROGRAM, words, { cwd: folder, stdio: 'inherit' }).once('exit', code => resolve(code ?? 1))
  })
} finally {
  await service.close()
  await chain.close()
  rmSync(folder, { recursive: true })
}
