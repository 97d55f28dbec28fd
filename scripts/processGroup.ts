/** Ends a child that leads a group of its own (`detached`), together with all processes it started. */
import type { ChildProcess } from 'node:child_process'

export function endGroup(leader: ChildProcess | null): void {
  if (leader?.pid === undefined) return
  try {
    process.kill(-leader.pid, 'SIGKILL')
  } catch {
    // Already gone.
  }
}
