import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const BIN = resolve(import.meta.dirname, 'bin.js')

/** A module to `--import`: at its end the process prints the URL of every module that it loaded. */
const LISTING = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  process.on('exit', () => console.error(loaded.join('\\n')))
`)}`

/** The folders of `packages` that the program loads before a command runs. */
async function loadedBy(...args: readonly string[]): Promise<ReadonlySet<string>> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', LISTING, BIN, ...args])
  return new Set([...stderr.matchAll(/\/packages\/(\w+\/\w+)/g)].map(([, folder = '']) => folder))
}

it('a command appears at once: no engine, no service and no verifier are loaded before it needs them', async () => {
  const loaded = await loadedBy('--version')
  expect([...loaded]).toEqual(expect.arrayContaining(['cli/commands', 'sdk/client', 'sdk/wire']))
  expect(
    [...loaded].filter(folder => /^(engine|server|console)\/|^sdk\/(verify|probe)/.test(folder)),
  ).toEqual([])
})
