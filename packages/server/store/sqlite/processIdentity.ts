/** A name for this process that no later one gets: its id may be given out again, its start may not. */
import { readFileSync } from 'node:fs'

export type ProcessIdentity = { readonly pid: number; readonly start: string }

/** The same in every thread of the process. */
export const thisProcess = (): ProcessIdentity => ({ pid: process.pid, start: startToken() })

/** Boot and start time in clock ticks. Without /proc the process id must do. */
function startToken(): string {
  if (process.platform !== 'linux') return ''
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The second field is the program's name in brackets and may hold anything; the start is the 22nd, proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return `${boot}/${fields[19]}`
}
