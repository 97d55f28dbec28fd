/**
 * What an answer and a log line are found by: a UUID's shape, random for the process and counted within it. Nobody has
 * to guess it, so it need not be random each time, which would cost more than all else an answer is made of.
 */
import { randomUUID } from 'node:crypto'

const COUNTED_DIGITS = 12
const OF_PROCESS = randomUUID().slice(0, -COUNTED_DIGITS)

/** All ends an id can have: the digits before them are written once for so many ids. */
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
