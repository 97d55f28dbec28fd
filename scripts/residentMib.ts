/** What a process holds in memory; nothing once it is gone. */
import { readFileSync } from 'node:fs'

export function residentMib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
