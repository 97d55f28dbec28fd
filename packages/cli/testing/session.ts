/**
 * The command line as a user has it: in a pipe, or on a real terminal. The terminal is a pseudo-terminal of `script`,
 * which is part of every Debian, so that colours, widths, raw keys and Ctrl-C are those of a person's.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const BIN = fileURLToPath(new URL('../bin.js', import.meta.url))
/** A world takes half a minute, and minutes on nodes that run emulated. */
const PATIENCE_MS = 300_000

export type Place = 'a terminal' | 'a pipe'
export const PLACES = ['a terminal', 'a pipe'] as const

export type SessionOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly columns?: number
  readonly rows?: number
}

export type Ended = {
  readonly code: number | null
  /** What was printed, without colours and carriage returns; on a terminal both streams together. */
  readonly text: string
  readonly errors: string
  /** As it came. */
  readonly raw: string
}

const living = new Set<ChildProcess>()

/** Whatever a test that failed has left running: each with all that it started. */
export function endSessions(): void {
  for (const { pid } of living) if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

export class Session {
  readonly #child: ChildProcess
  readonly #place: Place
  readonly #args: readonly string[]
  #raw = ''
  #errors = ''
  readonly ended: Promise<Ended>

  constructor(place: Place, args: readonly string[], options: SessionOptions) {
    this.#place = place
    this.#args = args
    const { columns = 100, rows = 30 } = options
    const command = [process.execPath, BIN, ...args]
    const [file = '', ...rest] =
      place === 'a pipe'
        ? command
        : [
            'script',
            '-qec',
            `stty cols ${columns} rows ${rows}; exec ${command.map(quoted).join(' ')}`,
            '/dev/null',
          ]
    this.#child = spawn(file, rest, {
      stdio: 'pipe',
      // A group of its own, so that it can be ended as a whole.
      detached: true,
      cwd: options.cwd,
      env: { ...clean(process.env), TERM: 'xterm-256color', ...options.env },
    })
    living.add(this.#child)
    this.#child.stdout?.on('data', part => (this.#raw += String(part)))
    this.#child.stderr?.on('data', part => (this.#errors += String(part)))
    this.ended = once(this.#child, 'close').then(([code]) => {
      living.delete(this.#child)
      return { code: code as number | null, text: this.text, errors: this.#errors, raw: this.#raw }
    })
  }

  get text(): string {
    return stripVTControlCharacters(this.#raw).replaceAll('\r', '')
  }

  /** What the screen showed last, whole: from its corner until it was drawn again. */
  get screen(): string {
    return stripVTControlCharacters(this.#raw.split('\u001B[H').at(-2) ?? '').replaceAll('\r', '')
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys)
  }

  /** Ctrl-C: the key on a terminal, the signal in a pipe. */
  interrupt(): void {
    if (this.#place === 'a terminal') this.press('\u0003')
    else this.#child.kill('SIGINT')
  }

  /** As `head` does when it has its lines: the next one meets a closed pipe. */
  stopReading(): void {
    this.#child.stdout?.destroy()
  }

  /** Until what is shown matches; fails when the command ends before, or after some patience. */
  async until(what: RegExp, shown: () => string = () => this.text): Promise<RegExpExecArray> {
    const lateAt = performance.now() + PATIENCE_MS
    for (;;) {
      const found = what.exec(shown())
      if (found !== null) return found
      if (this.#child.exitCode !== null || performance.now() > lateAt)
        throw new Error(
          `assay ${this.#args.join(' ')} (${this.#child.exitCode}) never showed ${what}:\n${this.text.slice(-3000)}\n${this.#errors}`,
        )
      await new Promise(resolve => setTimeout(resolve, 25))
    }
  }
}

export const open = (place: Place, args: readonly string[], options: SessionOptions = {}): Session =>
  new Session(place, args, options)

export const run = (place: Place, args: readonly string[], options: SessionOptions = {}): Promise<Ended> =>
  open(place, args, options).ended

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Nothing of the tester's own: neither a wish about colours, nor a service, nor where compiled code is kept. */
function clean(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => !/^(ASSAY_(?!ANVIL$)|NO_COLOR$|FORCE_COLOR$|CI$|VITEST|NODE_COMPILE_CACHE$)/.test(name),
    ),
  )
}
