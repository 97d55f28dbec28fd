/**
 * One anvil node as a child process.
 *
 * The node never outlives this process: it ends on `close()`, on abort of its signal, on exit and on a terminating
 * signal. When this process is killed outright, the pipe to the node's standard input closes, and a watcher process
 * ends the node, so that it still writes its state.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

export type AnvilOptions = {
  readonly chainId: number
  /** Seconds between blocks. Omitted, a block is mined for every transaction. */
  readonly blockTimeS?: number
  /** Omitted, the operating system chooses a free one. */
  readonly port?: number
  /** Unix seconds of the genesis block. Two chains with the same timestamp have the same genesis hash. */
  readonly timestamp?: number
  /** Number of the genesis block. */
  readonly number?: number
  readonly gasLimit?: bigint
  readonly slotsInAnEpoch?: number
  readonly hardfork?: string
  /** A file written by an earlier node's `dumpState`. */
  readonly loadState?: string
  /** Where the state is written when the node is closed. */
  readonly dumpState?: string
  /** Further flags, passed on as they are. */
  readonly flags?: readonly string[]
  readonly readyTimeoutMs?: number
  /** Ends the node, during the start and after it. */
  readonly signal?: AbortSignal
}

export type Anvil = {
  readonly chainId: number
  readonly port: number
  readonly pid: number
  readonly url: string
  readonly wsUrl: string
  /** Whether the process is gone, for whatever reason. */
  hasEnded(): boolean
  /** Resolves when the process is gone and its port is free. Calling it twice is harmless. */
  close(): Promise<void>
}

/** MISSING: no binary for this platform. EXITED: the node ended before it was ready. NOT_READY: it took too long. */
export type AnvilFailureCode = 'ANVIL_MISSING' | 'ANVIL_EXITED' | 'ANVIL_NOT_READY'

export class AnvilFailure extends Error {
  override readonly name = 'AnvilFailure'
  readonly code: AnvilFailureCode

  constructor(code: AnvilFailureCode, sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.code = code
  }
}

/** A node is up in about 0.1 s; a loaded state of some megabytes on a busy machine takes seconds. */
const READY_TIMEOUT_MS = 30_000
/** SIGTERM lets anvil write its state, a few megabytes; after this it is killed. */
const CLOSE_TIMEOUT_MS = 10_000
/** The part of the child's stderr that is kept: its end holds the cause. */
const STDERR_LIMIT = 8_192
/** Anvil prints its banner, some 2 KiB, before the line we wait for. */
const BANNER_LIMIT = 65_536

/**
 * A shell that becomes the node, and leaves a child behind that waits for the end of standard input. The child holds
 * no other pipe, so that nothing waits for it.
 */
const WATCHED =
  'exec 3<&0; (cat <&3 >/dev/null; kill -TERM $$) >/dev/null 2>&1 & exec 3<&-; exec "$@" </dev/null'

export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { signal } = options
  signal?.throwIfAborted()
  const [binary, flags] = [anvilBinary(), flagsOf(options)]
  // Without a POSIX shell there is no watcher.
  const command = process.platform === 'win32' ? [binary] : ['/bin/sh', '-c', WATCHED, 'sh', binary]
  const child = spawn(command[0] as string, [...command.slice(1), ...flags], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // The watcher ends with the pipe, the node with or before it.
  child.once('exit', () => child.stdin?.destroy())
  child.stdin?.on('error', () => undefined)
  let hasEnded = false
  const exited = new Promise<void>(resolve => child.once('close', () => resolve()))
  void exited.then(() => (hasEnded = true))
  endWithThisProcess(child)

  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end(child, exited))
  const onAbort = (): void => void close()
  signal?.addEventListener('abort', onAbort, { once: true })
  void exited.then(() => signal?.removeEventListener('abort', onAbort))

  let isReady = false
  const said = endOf(child.stderr)
  child.once('exit', (code, signalled) => {
    if (isReady && closing === undefined && isCrash(code, signalled))
      console.error(
        `anvil of chain ${options.chainId} crashed, it ${howEnded(code, signalled)}. ${said()}`.trim(),
      )
  })

  try {
    const port = await untilListening(child, said, options)
    const url = `http://127.0.0.1:${port}`
    await confirmChain(url, options)
    isReady = true
    return {
      chainId: options.chainId,
      port,
      pid: child.pid ?? 0,
      url,
      wsUrl: `ws://127.0.0.1:${port}`,
      hasEnded: () => hasEnded,
      close,
    }
  } catch (error) {
    await close()
    signal?.throwIfAborted()
    throw error
  }
}

/** The binary's path: the one in `ASSAY_ANVIL`, or that of the package npm chose for this platform. */
export function anvilBinary(
  platform: string = process.platform,
  architecture: string = process.arch,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const named = environment['ASSAY_ANVIL']
  if (named !== undefined && named !== '') return named
  const machine = architecture === 'x64' ? 'amd64' : architecture
  const name = `@foundry-rs/anvil-${platform}-${machine}`
  try {
    const executable = platform === 'win32' ? 'anvil.exe' : 'anvil'
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(manifest), 'bin', executable)
  } catch (cause) {
    throw new AnvilFailure(
      'ANVIL_MISSING',
      `no anvil for ${platform} ${architecture}: the package ${name} is not installed. Name one in ASSAY_ANVIL`,
      { cause },
    )
  }
}

function flagsOf(options: AnvilOptions): string[] {
  const flags = ['--chain-id', `${options.chainId}`, '--host', '127.0.0.1', '--port', `${options.port ?? 0}`]
  const add = (flag: string, value: number | bigint | string | undefined): void => {
    if (value !== undefined) flags.push(flag, `${value}`)
  }
  add('--block-time', options.blockTimeS)
  add('--timestamp', options.timestamp)
  add('--number', options.number)
  add('--gas-limit', options.gasLimit)
  add('--slots-in-an-epoch', options.slotsInAnEpoch)
  add('--hardfork', options.hardfork)
  add('--load-state', options.loadState)
  add('--dump-state', options.dumpState)
  return [...flags, ...(options.flags ?? [])]
}

/** Returns the most recent output of a stream. */
function endOf(stream: Readable): () => string {
  let end = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    end = (end + text).slice(-STDERR_LIMIT)
  })
  return () => end.trim()
}

/** Signals sent by other processes; with any other signal, or with an exit code, the node ended on its own. */
const BY_OTHERS: ReadonlySet<string | null> = new Set(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'])

const isCrash = (code: number | null, signal: NodeJS.Signals | null): boolean =>
  signal === null ? code !== 0 : !BY_OTHERS.has(signal)

const howEnded = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `exited with code ${code}` : `was ended by ${signal}`

/** The port that anvil reports; fails as soon as the child ends. */
function untilListening(child: ChildProcess, said: () => string, options: AnvilOptions): Promise<number> {
  const timeoutMs = options.readyTimeoutMs ?? READY_TIMEOUT_MS
  return new Promise((resolve, reject) => {
    let banner = ''
    const timer = setTimeout(
      () =>
        reject(new AnvilFailure('ANVIL_NOT_READY', `anvil was not ready after ${timeoutMs} ms. ${said()}`)),
      timeoutMs,
    )
    const onStdout = (text: string): void => {
      banner = (banner + text).slice(-BANNER_LIMIT)
      const port = /^Listening on .*:(\d+)\s*$/m.exec(banner)?.[1]
      if (port === undefined) return
      clearTimeout(timer)
      // Anvil logs every request; the pipe must be drained or it blocks.
      child.stdout?.off('data', onStdout).resume()
      resolve(Number(port))
    }
    child.stdout?.setEncoding('utf8').on('data', onStdout)
    child.once('error', cause => {
      clearTimeout(timer)
      reject(new AnvilFailure('ANVIL_EXITED', `anvil could not be run: ${cause.message}`, { cause }))
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      reject(
        new AnvilFailure('ANVIL_EXITED', `anvil ${howEnded(code, signal)} before it was ready: ${said()}`),
      )
    })
  })
}

/** A listening node may not answer yet, and a loaded state may carry another chain id. */
async function confirmChain(url: string, options: AnvilOptions): Promise<void> {
  const deadline = AbortSignal.timeout(options.readyTimeoutMs ?? READY_TIMEOUT_MS)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
    signal: options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]),
  })
  const { result } = (await response.json()) as { readonly result?: string }
  if (Number(result) === options.chainId) return
  throw new AnvilFailure('ANVIL_NOT_READY', `anvil serves chain ${result}, asked for ${options.chainId}`)
}

async function end(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT_MS)
    await exited
    clearTimeout(timer)
  }
}

const living = new Set<ChildProcess>()
const TERMINATING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function endWithThisProcess(child: ChildProcess): void {
  if (living.size === 0) {
    process.on('exit', killLiving)
    for (const name of TERMINATING) process.on(name, onTerminating)
  }
  living.add(child)
  child.once('close', () => {
    living.delete(child)
    if (living.size > 0) return
    process.off('exit', killLiving)
    for (const name of TERMINATING) process.off(name, onTerminating)
  })
}

function killLiving(): void {
  for (const child of living) child.kill('SIGKILL')
}

/** A listener keeps Node from ending on the signal. If nobody else listens, end the process as Node would have. */
function onTerminating(name: NodeJS.Signals): void {
  if (process.listenerCount(name) > 1) return
  killLiving()
  process.off(name, onTerminating)
  process.kill(process.pid, name)
}
