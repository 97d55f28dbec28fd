/**
 * Broken invariants. An outcome is a value and a failure carries a code; a failed assertion is a mistake in our own
 * reasoning, and nothing below the entry point catches it.
 */

export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Pass a function if the sentence costs something to build: this runs on hot paths. */
export function assert(condition: boolean, sentence: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantError(typeof sentence === 'string' ? sentence : sentence())
}

/** The end of an exhaustive switch: a new member of a union fails to compile until it is handled. */
export function unreachable(value: never): never {
  throw new InvariantError(`unhandled member of a closed union: ${JSON.stringify(value)}`)
}
