/** A world's time: the machine's, or so many times as fast from its start on, so that a day of it is over in an hour. */
export type WorldClock = {
  readonly hurry: number
  /** Unix seconds. */
  readonly nowS: () => number
}

export function startClock(hurry = 1): WorldClock {
  const startMs = Date.now()
  return { hurry, nowS: () => Math.floor((startMs + (Date.now() - startMs) * hurry) / 1000) }
}
