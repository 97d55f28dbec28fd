/**
 * Any number of subscribers of the whole stream. Each checks the sequence of every record: sequences must rise, and
 * there must be as many as the log has between its first and its last.
 */
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { answerCalls } from './part.ts'
import { HEAD_BYTES, openStream, type StreamTarget, TOO_SLOW } from './streamSocket.ts'

export type Wish = { readonly target: StreamTarget; readonly sockets: number }
/** The records of a subscriber: `records` from sequence `first` to `last`. */
export type Heard = { readonly first: number; readonly last: number; readonly records: number }
export type Delivered = { readonly records: number; readonly seconds: number }
export type Subscribed = {
  readonly open: number
  readonly turnedAway: number
  /** Closed with 1013, or cut while they had a backlog, as happens to slow readers. */
  readonly tooSlow: number
  readonly heard: readonly Heard[]
  readonly faults: readonly string[]
}

/** Below the number admitted per second, so that none has to return. */
const PER_SECOND = 180
/** Opened concurrently. */
const GROUP = 20
/** Attempts of a subscriber that is turned away. */
const MOST_TRIES = 5
const COME_BACK_MS = 2000
/** A subscriber this many records behind another has a backlog: a write holds about forty. */
const BACKLOG = 100
/** The most faults reported: the first ones show the cause. */
const TOLD = 20

const faults: string[] = []
const heard: { first: number; last: number; records: number }[] = []
const sockets: Socket[] = []
let turnedAway = 0
let tooSlow = 0
let isOver = false
/** Across all of them. */
let newest = 0
let delivered = { records: 0, sinceMs: performance.now() }

const note = (fault: string): void => {
  if (!isOver && faults.length < TOLD) faults.push(fault)
}

answerCalls({
  /** Opens more subscribers; returns the number that found no room. */
  async open({ target, sockets: count }: Wish): Promise<number> {
    let refused = 0
    for (let opened = 0; opened < count; opened += GROUP) {
      const startMs = performance.now()
      const group = Math.min(GROUP, count - opened)
      const isIn = await Promise.all(Array.from({ length: group }, () => openOne(target)))
      refused += isIn.filter(each => !each).length
      await pause(Math.max(0, (group * 1000) / PER_SECOND - (performance.now() - startMs)))
    }
    return refused
  },
  /** The records received by all of them since the last call. */
  take(): Delivered {
    const { records, sinceMs } = delivered
    delivered = { records: 0, sinceMs: performance.now() }
    return { records, seconds: (performance.now() - sinceMs) / 1000 }
  },
  report: (): Subscribed => ({ open: sockets.length - tooSlow, turnedAway, tooSlow, heard, faults }),
  leave() {
    isOver = true
    for (const socket of sockets) socket.destroy()
  },
})

async function openOne(target: StreamTarget): Promise<boolean> {
  const own = { first: 0, last: 0, records: 0 }
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    let isIn = false
    const socket = await openStream(target, {
      most: HEAD_BYTES,
      onRecord(sequence) {
        if (own.records === 0) own.first = sequence
        else if (sequence <= own.last) note(`sequence ${sequence} after ${own.last}`)
        own.last = sequence
        own.records += 1
        newest = Math.max(newest, sequence)
        delivered.records += 1
      },
      onFault: fault => {
        if (!isIn) return
        isIn = false
        if (fault === TOO_SLOW || newest - own.last > BACKLOG) tooSlow += 1
        else note(fault)
      },
    }).catch((failure: Error) => note(failure.message))
    if (socket === undefined) return false
    if (socket !== 'turnedAway') {
      isIn = true
      sockets.push(socket)
      heard.push(own)
      return true
    }
    turnedAway += 1
    await pause(COME_BACK_MS)
  }
  return false
}
