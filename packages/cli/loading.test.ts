import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

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

describe('a process that runs for long', () => {
  const telling = `data:text/javascript,${encodeURIComponent("process.on('exit', () => console.error(process.env.MALLOC_ARENA_MAX, process.execArgv.at(-1)))")}`
  const { MALLOC_ARENA_MAX: _, NODE_OPTIONS: __, ...inherited } = process.env
  const limitsOf = async (command: string, environment = {}, options: readonly string[] = []) => {
    const args = [...options, '--import', telling, BIN, command, '--help']
    const env = { ...inherited, ...environment }
    return (await promisify(execFile)(process.execPath, args, { env })).stderr.trim()
  }
  // Other systems have no such limit of malloc.
  const arenas = process.platform === 'linux' ? '2' : 'undefined'

  it('limits the heaps of malloc and the young generation of its main thread', async () => {
    expect(await limitsOf('serve')).toBe(`${arenas} --max-semi-space-size=16`)
    expect(await limitsOf('start')).toBe(`${arenas} --max-semi-space-size=16`)
    expect(await limitsOf('quote')).toBe(`undefined ${telling}`)
  })

  it('leaves to the operator what the environment or the command line sets', async () => {
    expect(await limitsOf('serve', { MALLOC_ARENA_MAX: '8' })).toBe('8 --max-semi-space-size=16')
    expect(await limitsOf('serve', { NODE_OPTIONS: '--max-semi-space-size=32' })).toBe(`${arenas} ${telling}`)
    expect(await limitsOf('serve', {}, ['--max_semi_space_size=32'])).toBe(`${arenas} ${telling}`)
  })
})
