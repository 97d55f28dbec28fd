/**
 * A token bucket that decides how many calls an endpoint accepts. Tokens refill at a steady rate up to the burst. A
 * request larger than the bucket passes when the bucket is full and leaves it in debt, so no request is refused
 * forever.
 */
export type Rate = { readonly perSecond: number; readonly burst: number }

export class TokenBucket {
  readonly #rate: Rate
  readonly #nowMs: () => number
  #tokens: number
  #atMs: number

  constructor(rate: Rate, nowMs: () => number = () => performance.now()) {
    this.#rate = rate
    this.#nowMs = nowMs
    this.#tokens = rate.burst
    this.#atMs = nowMs()
  }

  /** Takes this many tokens, or takes none and returns false. */
  take(count: number): boolean {
    const { perSecond, burst } = this.#rate
    const nowMs = this.#nowMs()
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#atMs) * perSecond) / 1000)
    this.#atMs = nowMs
    if (this.#tokens < Math.min(count, burst)) return false
    this.#tokens -= count
    return true
  }
}
