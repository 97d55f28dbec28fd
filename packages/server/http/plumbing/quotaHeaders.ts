/**
 * The quota headers of every answer, with their texts cached: most consumers have the same quota, and one that requests
 * no faster than it earns has the same remainder every time. A cached text is neither built nor validated again.
 */
import { policyText, restText } from '../../access/quotaText.ts'
import type { Quota, Verdict } from '../../access/rateLimit.ts'

export class QuotaHeaders {
  #quota: Quota | null = null
  #policy = ''
  #remaining = 0
  #waitS = 0
  #rest = restText({ remaining: 0, waitMs: 0 })

  /** Names and values, as `writeHead` takes them. */
  of(quota: Quota, verdict: Verdict): readonly [string, string, string, string] {
    return ['ratelimit-policy', this.#policyOf(quota), 'ratelimit', this.#restOf(verdict)]
  }

  #policyOf(quota: Quota): string {
    if (quota !== this.#quota) {
      this.#quota = quota
      this.#policy = policyText(quota)
    }
    return this.#policy
  }

  #restOf(verdict: Verdict): string {
    const { remaining, waitMs } = verdict
    const waitS = Math.ceil(waitMs / 1000)
    if (remaining !== this.#remaining || waitS !== this.#waitS) {
      this.#remaining = remaining
      this.#waitS = waitS
      this.#rest = restText(verdict)
    }
    return this.#rest
  }
}

/** Those of this process. */
export const quotaHeaders = new QuotaHeaders()
