/**
 * Identifies an answer and its log lines: in the shape of a UUID, random per process and counted within it. It need not
 * be unpredictable, and a random one for each answer would cost more than the rest of the answer.
 */
import { randomUUID } from 'node:crypto'

const COUNTED_DIGITS = 12
const OF_PROCESS = randomUUID().slice(0, -COUNTED_DIGITS)

/** All possible last digits of an id: the digits before them are built once for this many ids. */
const END_DIGITS = 3
const ENDS = Array.from({ length: 16 ** END_DIGITS }, (_, at) => hex(at, END_DIGITS))

let block = 0
let beginning = beginningOf(block)
let at = 0

export function requestId(): string {
  if (at === ENDS.length) {
    beginning = beginningOf(++block)
    at = 0
  }
  return beginning + (ENDS[at++] as string)
}

function beginningOf(count: number): string {
  return OF_PROCESS + hex(count, COUNTED_DIGITS - END_DIGITS)
}

function hex(count: number, digits: number): string {
  return count.toString(16).padStart(digits, '0')
}
