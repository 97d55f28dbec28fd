import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTo, createServer } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Anvil, AnvilFailure, type AnvilOptions, anvilBinary, startAnvil } from './anvil.ts'
import { connect } from './client.ts'

const started: Anvil[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map(anvil => anvil.close()))
})

async function start(options: AnvilOptions): Promise<Anvil> {
  const anvil = await startAnvil(options)
  started.push(anvil)
  return anvil
}

const failureOf = (options: AnvilOptions): Promise<AnvilFailure> =>
  start(options).then(
    () => expect.unreachable('anvil started'),
    (error: unknown) => error as AnvilFailure,
  )

const CRASHED = /^anvil of chain 1 crashed, it (was ended by SIGUSR1|exited with code \d+)\./

describe('startAnvil', () => {
  it('serves the chain it was started for over HTTP and WebSocket, on ports that do not collide', async () => {
    const [one, other] = await Promise.all([
      start({ chainId: 1, timestamp: 1_700_000_000, number: 1_000_000 }),
      start({ chainId: 56 }),
    ])
    expect(one.port).not.toBe(other.port)
    const client = connect(one.url)
    expect(await client.getChainId()).toBe(1)
    const block = await client.getBlock()
    expect([block.number, block.timestamp]).toEqual([1_000_000n, 1_700_000_000n])
    const socket = new WebSocket(other.wsUrl)
    onTestFinished(() => socket.close())
    await once(socket, 'open')
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}')
    const [message] = (await once(socket, 'message')) as [{ readonly data: string }]
    expect(JSON.parse(message.data)).toMatchObject({ result: '0x38' })
  })

  it('mines by itself where a block time is set', async () => {
    const anvil = await start({ chainId: 1, blockTimeS: 1 })
    const client = connect(anvil.url)
    await expect.poll(() => client.getBlockNumber()).toBeGreaterThan(0n)
  })

  it('reports anvil’s message about a bad flag in one error', async () => {
    const failure = await failureOf({ chainId: 1, flags: ['--no-such-flag'] })
    expect(failure).toBeInstanceOf(AnvilFailure)
    expect(failure.code).toBe('ANVIL_EXITED')
    expect(failure.message).toMatch(/exited with code 2 before it was ready: .*'--no-such-flag'/s)
  })

  it('reports that a port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const failure = await failureOf({ chainId: 1, port })
    expect(failure.code).toBe('ANVIL_EXITED')
    expect(failure.message).toMatch(/in use/)
  })

  it('gives up on a node that is not ready in time', async () => {
    const failure = await failureOf({ chainId: 1, readyTimeoutMs: 0 })
    expect(failure.code).toBe('ANVIL_NOT_READY')
    expect(failure.message).toMatch(/not ready after 0 ms/)
  })

  it('ends the child and frees the port on close, and close may be called again', async () => {
    const first = await start({ chainId: 1 })
    await first.close()
    await first.close()
    expect(await isServed(first.port)).toBe(false)
    const second = await start({ chainId: 1, port: first.port })
    expect(second.port).toBe(first.port)
  })

  it('reports that a node crashed, and nothing of one that was stopped', async () => {
    const said = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => said.mockRestore())
    const crashing = await start({ chainId: 1 })
    process.kill(crashing.pid, 'SIGUSR1')
    await expect.poll(() => said.mock.calls).toEqual([[expect.stringMatching(CRASHED)]])
    const ended = await start({ chainId: 1 })
    process.kill(ended.pid, 'SIGTERM')
    await expect.poll(() => ended.hasEnded()).toBe(true)
    await (await start({ chainId: 1 })).close()
    expect(said).toHaveBeenCalledTimes(1)
  })

  it('ends the child when its signal aborts, during the start and after it', async () => {
    const during = new AbortController()
    const pending = start({ chainId: 1, signal: during.signal })
    during.abort(new Error('changed my mind'))
    await expect(pending).rejects.toThrow('changed my mind')

    const after = new AbortController()
    const anvil = await start({ chainId: 1, signal: after.signal })
    after.abort()
    await expect.poll(() => isServed(anvil.port)).toBe(false)
  })

  it.each(['exit', 'SIGTERM', 'SIGKILL'] as const)(
    'leaves no node behind a process that ends by %s',
    async how => {
      const module = JSON.stringify(new URL('anvil.ts', import.meta.url).href)
      const ending = how === 'exit' ? 'process.exit(3)' : 'setInterval(() => {}, 1_000)'
      const script = `import { startAnvil } from ${module}
      const anvil = await startAnvil({ chainId: 1 })
      process.stdout.write(String(anvil.port), () => { ${ending} })`
      const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [text] = (await once(parent.stdout, 'data')) as [Buffer]
      if (how !== 'exit') parent.kill(how)
      const [code, signal] = await once(parent, 'exit')
      expect([code, signal]).toEqual(how === 'exit' ? [3, null] : [null, how])
      await expect.poll(() => isServed(Number(text))).toBe(false)
    },
  )
})

describe('anvilBinary', () => {
  it('is a program that knows its version', async () => {
    const { stdout } = await promisify(execFile)(anvilBinary(), ['--version'])
    expect(stdout).toMatch(/anvil/i)
  })

  it('names the platform and the package that is missing', () => {
    expect(() => anvilBinary('sunos', 'sparc', {})).toThrow(
      'no anvil for sunos sparc: the package @foundry-rs/anvil-sunos-sparc is not installed. Name one in ASSAY_ANVIL',
    )
  })

  it('is the one that ASSAY_ANVIL names, whatever the platform', () => {
    expect(anvilBinary('sunos', 'sparc', { ASSAY_ANVIL: '/opt/foundry/anvil' })).toBe('/opt/foundry/anvil')
  })
})

/** Asks the port rather than the process table: an orphan that ended may wait long for its reaper. */
async function isServed(port: number): Promise<boolean> {
  const socket = connectTo(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
