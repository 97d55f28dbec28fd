/** An identity of this process that no later process has: its id may be reused, its start time may not. */
import { readFileSync } from 'node:fs'

export type ProcessIdentity = { readonly pid: number; readonly start: string }

/** Identical in every thread of the process. */
export const thisProcess = (): ProcessIdentity => ({ pid: process.pid, start: startToken() })

/** Boot and start time in clock ticks. Where the system does not provide them, the process id must suffice. */
function startToken(): string {
  const boot = readIfThere('/proc/sys/kernel/random/boot_id').trim()
  const stat = readIfThere('/proc/self/stat')
  // The second field is the program's name in parentheses and may contain anything; the start is the 22nd, proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return `${boot}/${fields[19] ?? ''}`
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
