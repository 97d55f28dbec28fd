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

it('a process that runs for long limits the heaps of malloc, unless its environment says how many', async () => {
  const telling = `data:text/javascript,${encodeURIComponent("process.on('exit', () => console.error(process.env.MALLOC_ARENA_MAX))")}`
  const { MALLOC_ARENA_MAX: _, ...inherited } = process.env
  const arenasOf = async (command: string, environment: Readonly<Record<string, string>>) => {
    const args = ['--import', telling, BIN, command, '--help']
    const env = { ...inherited, ...environment }
    return (await promisify(execFile)(process.execPath, args, { env })).stderr.trim()
  }
  // Other systems have no such limit.
  const limited = process.platform === 'linux' ? '2' : 'undefined'
  expect(await arenasOf('serve', {})).toBe(limited)
  expect(await arenasOf('start', {})).toBe(limited)
  expect(await arenasOf('serve', { MALLOC_ARENA_MAX: '8' })).toBe('8')
  expect(await arenasOf('quote', {})).toBe('undefined')
})
