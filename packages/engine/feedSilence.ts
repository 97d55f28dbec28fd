/**
 * When a feed counts as silent. A chain reports its health every 15 seconds; readers trust the last report for
 * twice that time, and the engine applies the same test when the next report arrives.
 */

import type { Ms } from './units.ts'

/** Two missed reports. */
export const SILENT_AFTER_MS = 30_000

/**
 * Whether health of `updatedAtMs` no longer counts at `nowMs`. A time in the future comes from a clock that has since
 * been set back, so nothing has been reported after it. Health without a time is never silent.
 */
export const isSilentAt = (updatedAtMs: unknown, nowMs: Ms): boolean =>
  typeof updatedAtMs === 'number' && Math.abs(nowMs - updatedAtMs) > SILENT_AFTER_MS
