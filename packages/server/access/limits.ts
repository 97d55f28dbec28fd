/** The limits of a consumer. An operator may set other limits for one; these are the defaults. */
import { DEFAULT_QUOTA, type Quota } from './rateLimit.ts'

export type Limits = Quota & {
  /** Streams open at once. */
  readonly streamConnections: number
  /** Tokens enrolled at the consumer's request. */
  readonly enrolmentsPerDay: number
}

export const DEFAULT_LIMITS: Limits = { ...DEFAULT_QUOTA, streamConnections: 20, enrolmentsPerDay: 100 }

/** Parses stored limits. */
export const limitsIn = (text: string): Limits => JSON.parse(text) as Limits
