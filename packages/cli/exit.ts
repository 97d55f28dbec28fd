/**
 * The exit codes and final messages of commands. The code tells a script what to do next; the text tells a person.
 */
import { AssayError } from '@assay/sdk/failure'
import { CommanderError } from 'commander'

export const EXIT = {
  done: 0,
  /** The command failed, or a check found a fault. */
  failed: 1,
  /** The command line or the configuration is wrong: another attempt will not help. */
  misused: 2,
  /** The request was answered, but there is no result: no price, no such token, nothing found. */
  absent: 3,
  /** The service could not be reached, or refused the key or the rate. */
  refused: 4,
} as const

/** A failure whose message is all a person needs. */
export class Failure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The text for standard error, and the code. An empty text means that it was already printed. */
export function endingOf(failure: unknown): { readonly text: string; readonly code: number } {
  // Commander has already written its own message, or the requested help.
  if (failure instanceof CommanderError)
    return { text: '', code: failure.exitCode === 0 ? EXIT.done : EXIT.misused }
  if (failure instanceof Failure) return { text: failure.message, code: failure.exitCode }
  // Matched by name, so that a command that only reads a price does not load the service.
  if (failure instanceof Error && FAULTY.has(failure.name))
    return { text: failure.message, code: EXIT.misused }
  if (failure instanceof AssayError) return endingOfService(failure)
  const { code, path, syscall } = failure as NodeJS.ErrnoException
  if (code !== undefined && UNWRITABLE.has(code) && path !== undefined)
    return {
      text: `${path} cannot be ${syscall === 'open' ? 'opened' : 'created'} (${code}): check the owner of the folder, or choose another one`,
      code: EXIT.failed,
    }
  return { text: failure instanceof Error ? failure.message : String(failure), code: EXIT.failed }
}

const FAULTY = new Set(['ConfigError', 'PolicyError'])
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC'])

/** Advice for the operator by the code of the failure. */
const NEXT: Readonly<Record<string, string>> = {
  NETWORK:
    'Is the service running? `npm start` starts one; --url or ASSAY_URL selects a service other than http://127.0.0.1:8080.',
  TIMEOUT: 'The service did not answer in time; try again.',
  UNAUTHENTICATED:
    'Pass a valid key with --key or ASSAY_KEY. For the key of `npm start`: export ASSAY_KEY=$(cat data/key)',
  FORBIDDEN:
    'The key lacks a scope: `assay keys list` shows the scopes of each, `assay keys issue` creates another. Admin commands also need this machine in `admin.allow`.',
  RATE_LIMITED: 'Try again later, or ask the operator to raise the limit of this consumer.',
  UNSUPPORTED_CHAIN: '`assay search SYMBOL` searches every chain that is served.',
  INVALID_ADDRESS: 'An address is 0x and 40 hex digits, in lower case or with its checksum.',
  STREAM_CLOSED: 'Run it again; `assay doctor` and the log of the service have more details.',
}

const REFUSED = new Set(['NETWORK', 'TIMEOUT', 'UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED'])
const MISUSED = new Set(['INVALID_ADDRESS', 'INVALID_PARAMS', 'BAD_REQUEST'])
const ABSENT = new Set(['NOT_FOUND', 'TOKEN_UNKNOWN', 'NOT_A_POOL', 'NO_ROUTE', 'UNSUPPORTED_CHAIN'])

function endingOfService({ code, message, retryAfterMs }: AssayError) {
  const later = retryAfterMs === null ? '' : ` (in ${Math.ceil(retryAfterMs / 1000)} s)`
  const next = NEXT[code]
  return {
    text: `${message}${later}${next === undefined ? '' : `\n${next}`}`,
    code: REFUSED.has(code)
      ? EXIT.refused
      : MISUSED.has(code)
        ? EXIT.misused
        : ABSENT.has(code)
          ? EXIT.absent
          : EXIT.failed,
  }
}
