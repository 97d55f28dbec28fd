/**
 * `npm run test:openapi`: schemathesis over the whole OpenAPI of a running service, every operation of the operator
 * included, on a local chain of its own and over loopback alone. It makes requests from the description, right ones and
 * wrong ones, and holds each answer against it.
 *
 * Needs Python with schemathesis (`pip install schemathesis`): the program of ASSAY_SCHEMATHESIS, else that on the PATH.
 * ASSAY_OPENAPI_EXAMPLES=200 makes more requests for each operation, ASSAY_OPENAPI_SECONDS=60 a shorter run.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { roomyKey } from '../packages/server/service/testing/roomy.ts'
import { startTestChain } from '../packages/server/service/testing/testChain.ts'
import { startTestService } from '../packages/server/service/testing/testService.ts'

const PROGRAM = process.env['ASSAY_SCHEMATHESIS'] ?? 'schemathesis'
const EXAMPLES = process.env['ASSAY_OPENAPI_EXAMPLES'] ?? '20'
/** For the whole run; what was not reached by then is not tried. */
const LONGEST_S = process.env['ASSAY_OPENAPI_SECONDS'] ?? '900'
/** The same requests every time. */
const SEED = '1'

/**
 * Of every check of schemathesis, what is left out and why: a right request may be refused for what only this service
 * knows (an address without a token, a checksum, a block that has not come), and after ten wrong keys in a minute the
 * eleventh is 429, as it should be, where the check wants 401.
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
