/** A sound configuration with every key in every form. */
import { examplesOf } from '../examples.ts'
import { SCHEMA } from '../schema.ts'

/** Without policy keys, which only the engine checks. */
export const SAMPLE: object = { ...(examplesOf(SCHEMA)[0] as object), policy: {} }
