import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import manifest from './package.json' with { type: 'json' }
import { olderNode } from './testing/olderNode.ts'
import { run } from './testing/session.ts'

const BIN = resolve(import.meta.dirname, 'bin.js')
const folder = mkdtempSync(join(tmpdir(), 'assay-start-'))
afterAll(() => rmSync(folder, { recursive: true }))

const oneLine = (words: RegExp) =>
  expect.stringMatching(new RegExp(`^assay: [^\\n]*${words.source}[^\\n]*\\n$`))

/** With these arguments before the script, or as this user. */
async function start(before: readonly string[], data: string, options: { readonly uid?: number } = {}) {
  const child = spawn(process.execPath, [...before, BIN, 'start', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
  let errors = ''
  child.stderr.on('data', part => (errors += String(part)))
  const [code] = (await once(child, 'close')) as [number]
  return [code, errors]
}

describe('an older Node hands over to the one installed with the packages', () => {
  const came = existsSync(
    resolve(import.meta.dirname, `../../node_modules/node-${process.platform}-${process.arch}`),
  )
  const older = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, ['--import', olderNode({ execPath: '/older/node' }), BIN, ...args])
    let text = ''
    child.stdout.on('data', part => (text += String(part)))
    child.stderr.on('data', part => (text += String(part)))
    const [code] = (await once(child, 'close')) as [number]
    return [code, text]
  }

  it('passes on its arguments and exit code, or says that no bundled Node is installed', async () => {
    const none = [1, oneLine(/Node 24 or newer is needed/)]
    expect(await older('--version')).toEqual(came ? [0, `${manifest.version}\n`] : none)
    expect(await older('qoute')).toEqual(came ? [2, expect.stringContaining('Did you mean quote')] : none)
  })
})

describe('a start that cannot succeed prints why in one line, before it creates anything', () => {
  it('a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, errors } = await run('a pipe', [
      'start',
      '--port',
      String(port),
      '--data',
      join(folder, 'port'),
    ])
    other.close()
    expect([code, errors]).toEqual([
      1,
      oneLine(new RegExp(`port ${port} of 127.0.0.1 is in use: choose another with --port`)),
    ])
  })

  it('a folder that is not writable', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'assay-closed-'))
    chmodSync(closed, 0o555)
    // Root may write anywhere, so it starts as nobody.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {}
    expect(await start([], join(closed, 'data'), nobody)).toEqual([
      1,
      oneLine(/cannot write to .*closed.* \(EACCES\): choose another folder with --data/),
    ])
    rmSync(closed, { recursive: true })
  })

  it('a file in place of the folder', async () => {
    writeFileSync(join(folder, 'taken'), '')
    expect(await start([], join(folder, 'taken'))).toEqual([
      1,
      oneLine(/cannot write to .* \((EEXIST|ENOTDIR)\)/),
    ])
  })

  it('a Node that is too old, with no bundled one', async () => {
    expect(await start(['--import', olderNode({ arch: 'none' })], join(folder, 'old'))).toEqual([
      1,
      oneLine(/Node 24 or newer is needed and this is 20\.11\.0/),
    ])
  })

  it('an unknown profile, with the list of known ones', async () => {
    for (const command of ['start', 'world']) {
      const { code, errors } = await run('a pipe', [
        command,
        '--profile',
        'fast',
        '--data',
        join(folder, 'fast'),
      ])
      expect([code, errors]).toEqual([
        2,
        expect.stringMatching(/'fast' is invalid\. Allowed choices are public, free, flaky\./),
      ])
    }
  })

  it('a profile for chains outside the local world', async () => {
    const { code, errors } = await run(
      'a pipe',
      ['start', '--profile', 'free', '--port', '0', '--data', join(folder, 'real')],
      { env: { ASSAY_RPC_1: 'http://127.0.0.1:1' } },
    )
    expect([code, errors]).toEqual([
      2,
      oneLine(
        /--profile free is for the local world, but assay.yaml or ASSAY_RPC_<chain_id> selects real chains/,
      ),
    ])
  })

  it('endpoints of an unknown chain', async () => {
    const { code, errors } = await run(
      'a pipe',
      ['start', '--port', '0', '--data', join(folder, 'unknown')],
      {
        env: { ASSAY_RPC_777: 'http://127.0.0.1:1' },
      },
    )
    expect([code, errors]).toEqual([
      2,
      expect.stringMatching(/ASSAY_RPC_777: received .*expected ASSAY_RPC_ and one of 1, /),
    ])
  })
})
