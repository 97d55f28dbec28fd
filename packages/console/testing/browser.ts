/**
 * A real Chromium: the one that is named, or that of the npm registry, unpacked once into a folder named by its version.
 * It is started with its security as users have it: only the sandbox, which root cannot have, is off.
 */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { namedBrowser } from './namedBrowser.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const VERSION = (
  JSON.parse(readFileSync(join(ROOT, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')) as {
    version: string
  }
).version
const FOLDER = join(ROOT, '.cache', `chromium-${VERSION}`)
const ARGS = ['--no-sandbox', '--disable-gpu']

/** The package's own names folders of another machine. Without any font the browser ends itself. */
const FONTS = `<?xml version="1.0"?>
<fontconfig>
  <dir>${join(FOLDER, 'fonts')}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(FOLDER, 'fonts-cache')}</cachedir>
</fontconfig>
`

export async function openBrowser(): Promise<Browser> {
  const named = namedBrowser()
  if (named !== null) return chromium.launch({ executablePath: named, args: ARGS })
  unpack()
  return chromium.launch({
    executablePath: join(FOLDER, 'chromium'),
    args: ARGS,
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(FOLDER, 'al2023', 'lib'),
      FONTCONFIG_PATH: join(FOLDER, 'fonts'),
      HOME: FOLDER,
    },
  })
}

/** The package unpacks into the temporary folder of its process, so it gets one of its own. */
function unpack(): void {
  if (existsSync(join(FOLDER, 'chromium'))) return
  const unfinished = `${FOLDER}-${randomUUID()}`
  mkdirSync(unfinished, { recursive: true })
  try {
    execFileSync(
      process.execPath,
      ['--input-type=module', '-e', "await (await import('@sparticuz/chromium')).default.executablePath()"],
      // The name of a runtime makes it unpack the libraries that a bare machine lacks.
      {
        cwd: import.meta.dirname,
        env: { ...process.env, TMPDIR: unfinished, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
      },
    )
    writeFileSync(join(unfinished, 'fonts', 'fonts.conf'), FONTS)
    renameSync(unfinished, FOLDER)
  } catch (failure) {
    if (!existsSync(join(FOLDER, 'chromium'))) throw failure
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}
