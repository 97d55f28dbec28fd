/** The service as its own process, started from the command line, so that it can be killed like one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createClient } from '@assay/sdk'
import { issueKeyIn, loadConfig } from '../../commands/config.ts'
import { scan } from './canary.ts'

const COMMAND = fileURLToPath(new URL('../../../cli/assay.ts', import.meta.url))
/** An API prints its address; a process that writes chains has none. */
const STARTED = /^Assay (?:serves at (\S+)|is ready to write its chains)$/m
const PATIENCE_MS = 180_000

const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export type ChildService = {
  /** Empty for one that only writes chains. */
  readonly url: string
  readonly pid: number
  /** SIGSTOP: it lives and does nothing, until `wake`. */
  pause(): void
  wake(): void
  /** kill -9: nothing is closed, nothing is flushed. */
  kill(): Promise<void>
  /** Until it is gone by itself. */
  readonly ended: Promise<unknown>
  /** SIGTERM, and its exit code. */
  stop(): Promise<number | null>
  /** The end of what it printed. */
  said(): string
}

/** Resolves when it listens. `command` is that of another version. */
export async function startChildService(
  configFile: string,
  environment: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
  command: string = COMMAND,
): Promise<ChildService> {
  const child = spawn(process.execPath, [command, 'serve', '--config', configFile, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  living.add(child)
  const exited = once(child, 'exit').then(([code]) => {
    living.delete(child)
    return code as number | null
  })
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not serving: ${said}`)), PATIENCE_MS)
    const hear = (part: Buffer) => {
      said = (said + String(part)).slice(-10_000)
      scan('a log', String(part))
      const found = STARTED.exec(said)
      if (found === null) return
      clearTimeout(timer)
      resolve(found[1] ?? '')
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    void exited.then(code => reject(new Error(`ended with ${code}: ${said}`)))
  })
  return {
    url,
    pid: child.pid as number,
    pause: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    ended: exited,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      return exited
    },
    said: () => said,
  }
}

/** Clients of the same service before and after a restart: one key, issued in its store. */
export async function clientOf(configFile: string, url: string, consumer: string) {
  const { key } = await issueKeyIn(loadConfig(configFile, {}), {
    name: consumer,
    consumer,
    scopes: ['read', 'stream'],
  })
  return createClient({ baseUrl: url, apiKey: key })
}

/** One that nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
