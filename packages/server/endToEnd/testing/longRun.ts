/** Progress output of a run of many rounds: a silent long form looks like one that hangs. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Below this a run is over before anyone wonders. */
const LONG = 10_000
const LINES = 20

/** Call it with the progress of the run: it prints about twenty times, and only in a long form. */
export function progressOf(what: string, total: number): (done: number) => void {
  const startMs = performance.now()
  let said = 0
  return done => {
    const line = Math.floor((Math.min(done, total) / total) * LINES)
    if (total < LONG || line <= said) return
    said = line
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(
      `${Math.min(done, total)} of ${total} ${what}, ${seconds} s, ${heldMib().toFixed(1)} MiB held`,
    )
  }
}

/** MiB of the heap that are in use once nothing is left to collect. */
export function heldMib(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}
