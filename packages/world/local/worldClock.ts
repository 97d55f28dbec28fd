/**
 * The time of a world: the machine's, or a multiple of its speed from the start on, so that a day passes in an hour.
 */
export type WorldClock = {
  readonly hurry: number
  /** Unix seconds. */
  readonly nowS: () => number
}

export function startClock(hurry = 1): WorldClock {
  const startMs = Date.now()
  return { hurry, nowS: () => Math.floor((startMs + (Date.now() - startMs) * hurry) / 1000) }
}
