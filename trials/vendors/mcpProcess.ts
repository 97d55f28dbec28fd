/** CoinGecko's MCP server as a process, controlled over its standard input and output: one line of JSON per message. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const PATIENCE_MS = 60_000

type Answer = {
  readonly id?: number
  readonly result?: { readonly content?: readonly { readonly text?: string }[] }
  readonly error?: { readonly message: string }
}

export class McpProcess {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  #ids = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', line => {
      if (!line.startsWith('{')) return
      const answer = JSON.parse(line) as Answer
      this.#waiting.get(answer.id ?? -1)?.(answer)
    })
  }

  /** The server installed in `folder`. */
  static async open(folder: string, environment: Readonly<Record<string, string>>): Promise<McpProcess> {
    const program = join(folder, 'node_modules/@coingecko/coingecko-mcp/index.js')
    const deno = denoIn(folder)
    const child = spawn(process.execPath, [program], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...environment, PATH: `${deno}:${process.env['PATH']}` },
    })
    const mcp = new McpProcess(child)
    await mcp.#ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'assay-test', version: '1' },
    })
    mcp.#say({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return mcp
  }

  /** The output of the tool that runs an agent's code. */
  async execute(code: string): Promise<string> {
    const { result, error } = await this.#ask('tools/call', { name: 'execute', arguments: { code } })
    return error?.message ?? (result?.content ?? []).map(({ text = '' }) => text).join('\n')
  }

  close(): void {
    this.#child.kill()
  }

  #ask(method: string, params: object): Promise<Answer> {
    const id = ++this.#ids
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), PATIENCE_MS)
      this.#waiting.set(id, answer => {
        clearTimeout(timer)
        resolve(answer)
      })
      this.#say({ jsonrpc: '2.0', id, method, params })
    })
  }

  #say(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`)
  }
}

/**
 * A folder with a `deno` for the server to find. Deno 2.9 requires permission to listen on a Unix socket, over which
 * the server talks to its own worker, but the server requests permission only for its base address. The request is
 * therefore widened to the whole network; nothing else of the server or of Deno is changed.
 */
function denoIn(folder: string): string {
  const bin = join(folder, 'deno-bin')
  mkdirSync(bin)
  const lines = [
    '#!/bin/sh',
    'n=$#',
    'while [ "$n" -gt 0 ]; do',
    '  each=$1; shift; n=$((n - 1))',
    '  case $each in --allow-net=*) each=--allow-net ;; esac',
    '  set -- "$@" "$each"',
    'done',
    `exec '${join(folder, 'node_modules/.bin/deno')}' "$@"`,
  ]
  writeFileSync(join(bin, 'deno'), `${lines.join('\n')}\n`, { mode: 0o755 })
  return bin
}
