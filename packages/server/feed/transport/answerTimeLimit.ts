/**
 * How long an answer may take (R-health-7): a limit to its first byte, then a minimum rate, and a limit for the whole.
 * A large answer over a slow line may finish; a dripping one may not.
 */
export type PaceLimits = {
  /** From the request to the first byte of the answer's body. */
  readonly deadlineMs: number
  readonly bytesPerSecond: number
  /** The window over which the rate is measured, after the first byte. */
  readonly overMs: number
  readonly longestMs: number
}

/** Which limit ended it. */
export type Expiry = 'start' | 'pace' | 'length'

type Pace = {
  readonly signal: AbortSignal
  /** Null unless one of the limits ended it; the caller may have. */
  readonly expiry: () => Expiry | null
  readonly received: (bytes: number) => void
  /** Frees timers and listeners; call it when the work ends, with or without success. */
  readonly release: () => void
}

/** Checks of the rate within `overMs`. */
const LOOKS = 5

/** `limits` are read at the start. */
export function startPace(signal: AbortSignal, limits: PaceLimits): Pace {
  const { deadlineMs, bytesPerSecond, overMs, longestMs } = limits
  const controller = new AbortController()
  let expiry: Expiry | null = null
  let looking: NodeJS.Timeout | undefined
  /** Bytes since the last check, and bytes per earlier check, oldest first. */
  let fresh = 0
  const looks: number[] = []
  const expire = (why: Expiry): void => {
    expiry ??= why
    controller.abort(new Error('too slow'))
  }
  const look = (): void => {
    looks.push(fresh)
    fresh = 0
    if (looks.length < LOOKS) return
    const sum = looks.reduce((total, bytes) => total + bytes, 0)
    if (sum < (bytesPerSecond * overMs) / 1000) expire('pace')
    looks.shift()
  }
  const onAbort = (): void => controller.abort(signal.reason)
  const start = setTimeout(() => expire('start'), deadlineMs)
  const whole = setTimeout(() => expire('length'), longestMs)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return {
    signal: controller.signal,
    expiry: () => expiry,
    received: bytes => {
      fresh += bytes
      if (looking !== undefined) return
      clearTimeout(start)
      looking = setInterval(look, overMs / LOOKS)
    },
    release: () => {
      clearTimeout(start)
      clearTimeout(whole)
      clearInterval(looking)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

/**
 * Measures recent bytes on a connection shared by several calls: shows whether it is still receiving one of their
 * answers.
 */
export class ByteMeter {
  readonly #limits: PaceLimits
  /** Bytes by time of arrival, oldest first; one entry for each fifth of the window. */
  #seen: { readonly atMs: number; bytes: number }[] = []

  constructor(limits: PaceLimits) {
    this.#limits = limits
  }

  received(bytes: number, nowMs: number): void {
    const last = this.#seen.at(-1)
    if (last !== undefined && nowMs - last.atMs < this.#limits.overMs / LOOKS) last.bytes += bytes
    else {
      this.#seen.push({ atMs: nowMs, bytes })
      if (this.#seen.length > LOOKS + 1) this.#seen.shift()
    }
  }

  /** Whether the minimum rate has been kept up to now. */
  isFlowing(nowMs: number): boolean {
    const { bytesPerSecond, overMs } = this.#limits
    const recent = this.#seen.filter(({ atMs }) => nowMs - atMs <= overMs)
    return recent.reduce((sum, { bytes }) => sum + bytes, 0) >= (bytesPerSecond * overMs) / 1000
  }
}
