/**
 * geth as a child process, on a private chain with a block every second. Its funded, unlocked account is the one the local
 * world uses, so the same code deploys the contracts. Blocks are stored in a folder: after a restart geth continues from them.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { freePort } from '../../packages/server/endToEnd/testing/childService.ts'

export const GETH_VERSION = 'v1.16.7'
const CACHE = resolve('.cache/clients', GETH_VERSION)
const MODULE = `github.com/ethereum/go-ethereum/cmd/geth@${GETH_VERSION}`

/** Key of anvil's first account, from its well-known test mnemonic. */
const DEV_KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
/** Deploying the Uniswap v3 factory takes five million gas, a batch of trades more; geth's default is 11.5 million. */
const BLOCK_GAS = 30_000_000
const APIS = 'eth,net,web3,debug'
/** A cold start takes a second or two; a busy machine takes longer. */
const READY_MS = 60_000
const LOOK_MS = 50
/** The part of the log that is kept: its end shows why a start failed. */
const SAID_LIMIT = 8_192

/** Path of the binary: `ASSAY_GETH`, or the one Go builds into the cache. Throws a one-line error when neither is possible. */
export function gethBinary(): string {
  const named = process.env['ASSAY_GETH']
  if (named !== undefined && named !== '') return named
  const binary = join(CACHE, 'geth')
  if (existsSync(binary)) return binary
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' })
  } catch {
    throw new Error(
      `geth is not here and Go is not installed to build it: name a geth in ASSAY_GETH, or install Go and run this again`,
    )
  }
  console.log(`Building geth ${GETH_VERSION} into ${CACHE}; this takes some minutes, once.`)
  mkdirSync(CACHE, { recursive: true })
  try {
    execFileSync('go', ['install', MODULE], {
      env: { ...process.env, GOBIN: CACHE },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch {
    throw new Error(`go install ${MODULE} failed: name a geth in ASSAY_GETH, or see what Go says above`)
  }
  return binary
}

export class Geth {
  readonly url: string
  readonly wsUrl: string
  readonly #binary: string
  readonly #folder: string
  readonly #flags: readonly string[]
  #child: ChildProcess | null = null
  #said = ''

  private constructor(binary: string, folder: string, httpPort: number, wsPort: number) {
    this.#binary = binary
    this.#folder = folder
    this.url = `http://127.0.0.1:${httpPort}`
    this.wsUrl = `ws://127.0.0.1:${wsPort}`
    this.#flags = `--dev --dev.period 1 --dev.gaslimit ${BLOCK_GAS} --ipcdisable
      --http --http.port ${httpPort} --http.api ${APIS} --ws --ws.port ${wsPort} --ws.api ${APIS}`.split(
      /\s+/,
    )
  }

  static async open(binary: string): Promise<Geth> {
    const folder = mkdtempSync(join(tmpdir(), 'assay-geth-'))
    const geth = new Geth(binary, folder, await freePort(), await freePort())
    writeFileSync(geth.#at('key'), DEV_KEY)
    writeFileSync(geth.#at('password'), '')
    const places = ['--keystore', geth.#at('keys'), '--password', geth.#at('password'), geth.#at('key')]
    execFileSync(binary, ['account', 'import', ...places], { stdio: 'ignore' })
    await geth.start()
    return geth
  }

  async start(): Promise<void> {
    const folders = ['--datadir', this.#at('data'), '--keystore', this.#at('keys')]
    const flags = [...this.#flags, ...folders, '--password', this.#at('password')]
    const child = spawn(this.#binary, flags, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child = child
    process.once('exit', () => child.kill('SIGKILL'))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-SAID_LIMIT)
    })
    const endMs = performance.now() + READY_MS
    while (!(await this.#isUp())) {
      if (child.exitCode !== null || performance.now() > endMs)
        throw new Error(`geth did not come up:\n${this.#said}`)
      await new Promise(done => setTimeout(done, LOOK_MS))
    }
  }

  /** A clean stop: geth writes its state to disk and exits. */
  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
  }

  async close(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #at(name: string): string {
    return join(this.#folder, name)
  }

  async #isUp(): Promise<boolean> {
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
      })
      return response.ok
    } catch {
      return false
    }
  }
}
