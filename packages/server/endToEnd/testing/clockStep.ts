/**
 * A wall clock that can be set while a program runs, as an operator or NTP would: loaded ahead of it (`--import`), it
 * adds to `Date` the milliseconds that a file holds, in every thread. The monotonic clock is unaffected.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const VARIABLE = 'ASSAY_CLOCK_STEP_FILE'
/** How long a thread may keep the previous time. */
const LOOK_MS = 20

/** With these, a program's clock can be set. */
export function settable(file: string): Record<string, string> {
  setClock(file, 0)
  return {
    NODE_OPTIONS: `--import ${new URL('./clockStep.ts', import.meta.url).href}`,
    [VARIABLE]: file,
  }
}

/** From now on its clock is so far from ours. */
export const setClock = (file: string, offsetMs: number): void => writeFileSync(file, `${offsetMs}`)

const file = process.env[VARIABLE]
if (file !== undefined) arm(file)

function arm(path: string): void {
  let offsetMs = 0
  let lookedAtMs = Number.NEGATIVE_INFINITY
  const systemNow = Date.now
  const now = (): number => {
    if (performance.now() - lookedAtMs > LOOK_MS) {
      offsetMs = Number(readFileSync(path, 'utf8'))
      lookedAtMs = performance.now()
    }
    return systemNow() + offsetMs
  }
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  })
  Date.now = now
}
