/**
 * The texts of the two quota headers, cached: most consumers have the same quota, and one that requests no faster than
 * it earns has the same remainder every time. A cached text is neither built nor validated again.
 */
import { policyText, restText } from '../../access/quotaText.ts'
import type { Quota, Verdict } from '../../access/rateLimit.ts'

export class QuotaLines {
  #quota: Quota
  #policy: string
  #remaining = 0
  #waitS = 0
  #rest = restText({ remaining: 0, waitMs: 0 })

  constructor(quota: Quota) {
    this.#quota = quota
    this.#policy = policyText(quota)
  }

  policyOf(quota: Quota): string {
    if (quota !== this.#quota) {
      this.#quota = quota
      this.#policy = policyText(quota)
    }
    return this.#policy
  }

  restOf(verdict: Verdict): string {
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
