/** Ends a child that leads a group of its own (`detached`), and with it whatever it started. */
import type { ChildProcess } from 'node:child_process'

export function endGroup(leader: ChildProcess | null): void {
  if (leader?.pid === undefined) return
  try {
    process.kill(-leader.pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}
