/** How far a long run is: whoever stops it half-way reads in its last line how much was done. */
import { writeSync } from 'node:fs'

const EVERY_MS = 10_000
const STDERR = 2

/** Tell it each thing that is done. Past the runner, which keeps what a test says until the test has ended. */
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
