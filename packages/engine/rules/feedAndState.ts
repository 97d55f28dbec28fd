/** The status of the feed, and the finality of the block behind a state, as components of the score. */
import { type Score, score } from '../units.ts'

const FEED = { HEALTHY: score(10), DEGRADED: score(3), GAP: score(0), UNAVAILABLE: score(0) } as const
const STATE = { unverified: score(0), canonical: score(8), finalized: score(10) } as const

export const feedScore = (status: keyof typeof FEED): Score => FEED[status]

export const stateScore = (finality: keyof typeof STATE): Score => STATE[finality]
