/**
 * A part of the load in a separate, niced process that receives commands: the load represents other machines, and
 * yields to the measured service.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const NICE = 10

type Calls = Readonly<Record<string, (given: never) => unknown>>
type PartCall = { readonly id: number; readonly call: string; readonly given: unknown }
type Answered = { readonly id: number; readonly result?: unknown; readonly failure?: string }

/** The side of the part: answers each call with the result of its function. */
export function answerCalls(calls: Calls): void {
  process.on('message', ({ id, call, given }: PartCall) => {
    const run = calls[call] as ((given: unknown) => unknown) | undefined
    void Promise.resolve()
      .then(() => {
        if (run === undefined) throw new Error(`this part has no ${call}`)
        return run(given)
      })
      .then(
        result => ({ id, result }),
        (failure: unknown) => ({
          id,
          failure: failure instanceof Error ? String(failure.stack) : String(failure),
        }),
      )
      .then(answer => process.send?.(answer satisfies Answered))
  })
  process.on('disconnect', () => process.exit())
}

/** The other side. A part that ends too early fails every call that waits for it. */
export class Part {
  readonly #child: ChildProcess
  readonly #waiting = new Map<
    number,
    { readonly resolve: (result: unknown) => void; readonly reject: (failure: Error) => void }
  >()
  #calls = 0

  /** Without `isYielding` it has the priority of its parent: the service waits for what this part answers. */
  constructor(file: string, flags: readonly string[] = [], isYielding = true) {
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), { execArgv: [...flags] })
    if (isYielding) setPriority(this.pid, NICE)
    this.#child.on('message', ({ id, result, failure }: Answered) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (failure === undefined) waiting?.resolve(result)
      else waiting?.reject(new Error(failure))
    })
    this.#child.once('exit', code => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended with ${code}`))
      this.#waiting.clear()
    })
  }

  get pid(): number {
    return this.#child.pid as number
  }

  call<Result>(call: string, given: unknown = null): Promise<Result> {
    const id = this.#calls++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: result => resolve(result as Result), reject })
      if (!this.#child.connected) reject(new Error(`${call}: the part has ended`))
      else this.#child.send({ id, call, given } satisfies PartCall)
    })
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise(resolve => this.#child.once('exit', resolve))
    if (this.#child.connected) this.#child.disconnect()
    await ended
  }
}
