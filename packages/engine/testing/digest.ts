/**
 * One SHA-256 over an engine's whole output: the results of its steps, every entity a commit would write, the full
 * quotes among them. Two engines with the same digest are indistinguishable from outside.
 */
import { createHash } from 'node:crypto'
import { encodeEntity } from '../stored/codec.ts'
import { step, type StepResult } from '../engine.ts'
import type { Input } from '../input.ts'
import type { State } from '../state.ts'

export class Digest {
  readonly #hash = createHash('sha256')

  /** Applies an input and takes in what came of it. */
  step(state: State, input: Input): StepResult {
    const result = step(state, input)
    this.add(JSON.stringify(result))
    for (const key of result.changed) this.add(`${key} ${encodeEntity(state, key)}`)
    return result
  }

  add(text: string): void {
    this.#hash.update(text).update('\n')
  }

  get hex(): string {
    return this.#hash.copy().digest('hex')
  }
}
