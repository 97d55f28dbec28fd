/** What a consumer may do in a time. An operator may give one other limits; without any, these hold. */
import { DEFAULT_QUOTA, type Quota } from './rateLimit.ts'

export type Limits = Quota & {
  /** Streams open at once. */
  readonly streamConnections: number
  /** Tokens enrolled because it asked for them. */
  readonly enrolmentsPerDay: number
}

export const DEFAULT_LIMITS: Limits = { ...DEFAULT_QUOTA, streamConnections: 20, enrolmentsPerDay: 100 }

/** As stored. */
export const limitsIn = (text: string): Limits => JSON.parse(text) as Limits
