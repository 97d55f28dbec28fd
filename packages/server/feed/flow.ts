/**
 * How many calls an endpoint is given at once: one more after every good one, half as many after it asked us
 * to slow down. Providers do not say what they bear, and it changes.
 */
import { FeedError } from './feedError.ts'

const START = 16
/** A local node answers eth_call in a millisecond; more at once only lengthens its queue. */
const MOST = 64
/** About what an endpoint answers within one deadline at the widest window. */
const MAX_WAITING = 4096

export class Flow {
  readonly #name: string
  #window = START
  #inFlight = 0
  readonly #waiting: (() => void)[] = []

  constructor(name: string) {
    this.#name = name
  }

  /** Waits for a place; the caller gives it back with `leave`. */
  async enter(signal: AbortSignal): Promise<void> {
    if (this.#inFlight < Math.floor(this.#window)) {
      this.#inFlight++
      return
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new FeedError('ENDPOINT_BUSY', this.#name, `${MAX_WAITING} calls wait for it already`)
    await new Promise<void>((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(go)
    })
  }

  /** Hands the place on to whoever waits longest. */
  leave(): void {
    this.#inFlight--
    while (this.#inFlight < Math.floor(this.#window)) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#inFlight++
      next()
    }
  }

  widen(): void {
    this.#window = Math.min(this.#window + 1 / this.#window, MOST)
  }

  narrow(): void {
    this.#window = Math.max(this.#window / 2, 1)
  }
}
