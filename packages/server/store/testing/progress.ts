/** Progress of a long run: its last line shows how much was done, even if it is stopped half-way. */
import { writeSync } from 'node:fs'

const EVERY_MS = 10_000
const STDERR = 2

/** Call it for each finished item. It bypasses the runner, which holds a test's output until the test has ended. */
export function progressOf(what: string, total: number): (done: number) => void {
  const startedMs = performance.now()
  let toldMs = startedMs
  return done => {
    const nowMs = performance.now()
    if (nowMs - toldMs < EVERY_MS && done < total) return
    toldMs = nowMs
    const [passed, left] = [nowMs - startedMs, ((nowMs - startedMs) / done) * (total - done)]
    writeSync(STDERR, `${what}: ${done} of ${total} in ${spoken(passed)}, about ${spoken(left)} left\n`)
  }
}

function spoken(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
