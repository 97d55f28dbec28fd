/** The resident memory of a process; nothing once it has ended. */
import { readFileSync } from 'node:fs'

export function residentMib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
