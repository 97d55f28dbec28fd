/** Processor time of child processes. */
import { readFileSync } from 'node:fs'

/** Linux reports times in hundredths of a second to every program, whatever its own clock's rate. */
const TICKS_A_SECOND = 100

/**
 * Seconds used by all children of this process that have ended and by theirs, or null where the system does not say. A
 * process that outlives its parent is missing.
 */
export function childrenSeconds(): number | null {
  let text: string
  try {
    text = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return null
  }
  // proc_pid_stat(5): the name in parentheses may contain spaces; cutime and cstime are fields 16 and 17.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND
}

/** What was used since `startedAt`, for the end of a line. */
export function usedSince(startedAt: number | null): string {
  const now = childrenSeconds()
  return startedAt === null || now === null ? '' : `, ${(now - startedAt).toFixed(0)} s of processor time`
}
