/** Colour on terminals that show it: plain in a pipe, in a file, and with NO_COLOR. */
import { styleText } from 'node:util'

type Format = Parameters<typeof styleText>[0]

export const paint = (format: Format, words: string): string =>
  styleText(format, words, { stream: process.stdout })

/** The same bands as in the console: a score below 3 is not reliable, from 6 on it is. */
export const paintScore = (score: number, words: string): string =>
  paint(score >= 6 ? 'green' : score >= 3 ? 'yellow' : 'red', words)

const STATUS_FORMAT: Readonly<Record<string, Format>> = {
  HEALTHY: 'green',
  DEGRADED: 'yellow',
  GAP: 'red',
  UNAVAILABLE: 'red',
}

export const paintStatus = (status: string, words: string = status.toLowerCase()): string =>
  paint(STATUS_FORMAT[status] ?? 'dim', words)

/** A rise, a fall, or neither. */
export const paintChange = (bps: number, words: string): string =>
  bps === 0 ? words : paint(bps > 0 ? 'green' : 'red', words)
