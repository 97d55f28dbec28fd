/** Estimates the disk space of the price history before it is kept. */

/**
 * A price in history: its state, compressed with a hundred others, its point, and the entry of its index. Measured as
 * 260 to 280 bytes in SQLite, without the log.
 */
const PRICE_BYTES = 300
/** The candles of a minute with a price: its own row, and its share of the longer ones; 360 bytes a row in SQLite. */
const CANDLE_BYTES = 440
const DAY_MS = 86_400_000
const MINUTES_A_DAY = 1440

/** For an operator who knows how often the prices of a token change. */
export const historySentence = (days: number): string =>
  `history of ${days} days: about ${mebibytes(days * MINUTES_A_DAY * (PRICE_BYTES + CANDLE_BYTES))} MiB for each token that changes once a minute`

/** At most, from the prices of a time that has passed: several prices in a minute share its candles. */
export function historyBytes(days: number, past: { readonly prices: number; readonly ms: number }): number {
  if (past.ms <= 0) return 0
  return Math.round((past.prices / past.ms) * DAY_MS * days * (PRICE_BYTES + CANDLE_BYTES))
}

export const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0)
