/** The quota headers of an answer, in the form of the IETF draft. */
import type { Quota, Verdict } from './rateLimit.ts'

/** The quota and its remainder: `RateLimit-Policy` and `RateLimit`. */
export const policyText = ({ units, windowMs }: Quota): string => `"default";q=${units};w=${windowMs / 1000}`
export const restText = ({ remaining, waitMs }: Pick<Verdict, 'remaining' | 'waitMs'>): string =>
  `"default";r=${Math.max(0, remaining)};t=${Math.ceil(waitMs / 1000)}`
