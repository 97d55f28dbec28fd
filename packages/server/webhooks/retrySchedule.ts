/** When a failed delivery is retried: soon at first, later hourly, for a day. */

const FIRST_MS = 5_000
const MOST_MS = 3_600_000
/** Counted from the first attempt; afterwards the webhook is parked. */
export const PATIENCE_MS = 24 * 3_600_000

/** `share`, from 0 to 1, spreads deliveries that failed together over half of the pause. */
export function pauseMs(attempts: number, share: number): number {
  const whole = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 20), MOST_MS)
  return Math.floor(whole * (1 - share / 2))
}
