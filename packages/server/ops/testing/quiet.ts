import type { Log } from '../log.ts'

/** A log nobody reads. */
export const QUIET: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }
