/**
 * Failures of a store, each with a code and whether the same call may succeed later. Outcomes such as a conflicting
 * commit are values of the port and never errors.
 */

/** Every code, and whether a retry may help. */
const RETRYABLE = {
  /** Other writers held the write lock past the limit. */
  STORE_BUSY: true,
  /** No space left: reads continue, and writes do once there is space. */
  STORE_FULL: true,
  /** The database server does not answer, or the connection broke: whether a commit was made is unknown. */
  STORE_UNREACHABLE: true,
  /** Another process has replaced this writer, which can no longer commit. */
  STORE_FENCED: false,
  /** The database is configured so that it may lose acknowledged commits. */
  STORE_UNSAFE: false,
  /** The device failed. Whether the last commit is durable is unknown, so this writer stops for good. */
  STORE_IO: false,
  STORE_READ_ONLY: false,
  STORE_CORRUPT: false,
  STORE_CLOSED: false,
  /** Another process has claimed the database. */
  STORE_CLAIMED: false,
  /** This process opened the database without claiming it. */
  STORE_UNCLAIMED: false,
  STORE_NETWORK_FILE_SYSTEM: false,
  STORE_ENGINE_TOO_OLD: false,
  STORE_SCHEMA_NEWER: false,
  /** The schema is older, and the caller may not migrate it. */
  STORE_SCHEMA_OLDER: false,
  /** A database of another program. */
  STORE_FOREIGN: false,
  /** A duplicate key, or a reference to a missing row. */
  STORE_CONSTRAINT: false,
  /** The caller broke the port's contract. */
  STORE_MISUSE: false,
  STORE_INTERNAL: false,
} as const satisfies Readonly<Record<string, boolean>>

export type StoreErrorCode = keyof typeof RETRYABLE

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  readonly retryable: boolean

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.retryable = RETRYABLE[code]
  }
}
