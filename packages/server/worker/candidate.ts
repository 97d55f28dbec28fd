/**
 * A process that wants to write chains, among others that want the same. It holds a seat by counting up its beats, and
 * takes one whose holder has been silent for too long. It may believe in a seat that is no longer its own, for as long
 * as it was asleep: what it then tries to commit is refused by the store.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../ops/clock.ts'
import type { Log } from '../ops/log.ts'
import type { Seat, SeatStore, SeatView } from '../store/cluster.ts'

export type CandidateOptions = {
  readonly seats: SeatStore
  readonly chainIds: readonly number[]
  /** The name of this process, for people. */
  readonly owner: string
  readonly clock: Clock
  readonly log: Log
  readonly onWon: (seat: Seat) => void
  /** Resolves when nothing of the chain runs here any more. */
  readonly onLost: (seat: Seat) => Promise<void>
}

const BEAT_MS = 1000
/** Four beats missed in a row: long enough for a server that restarts, short enough to be back within ten seconds. */
const SILENT_MS = 4000
const LOOK_MS = 500
/** How long a chain that failed here is left to others, doubling each time. */
const ABSTAIN_MS = { first: 1000, most: 30_000 } as const
/** A chain that ran this long did not fail for being here. */
const GOOD_TURN_MS = 60_000

type Turn = { readonly seat: Seat; readonly sinceMs: number }
type Seen = { readonly view: SeatView; readonly sinceMs: number }

export class Candidate {
  readonly #options: CandidateOptions
  readonly #turns = new Map<number, Turn>()
  readonly #seen = new Map<number, Seen>()
  readonly #abstaining = new Map<number, { readonly untilMs: number; readonly ms: number }>()
  /** Chains that are being stopped here: until that is done they are not asked for again. */
  readonly #leaving = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  readonly #loops: readonly Promise<void>[]

  constructor(options: CandidateOptions) {
    this.#options = options
    this.#loops = [this.#every(BEAT_MS, () => this.#beat()), this.#every(LOOK_MS, () => this.#look())]
  }

  /** What it holds, as far as it knows. */
  get seats(): readonly Seat[] {
    return [...this.#turns.values()].map(({ seat }) => seat)
  }

  /** Gives a seat up for whoever wants it; for a while that is not this process. */
  async resign(seat: Seat): Promise<void> {
    const { clock, seats } = this.#options
    const turn = this.#turns.get(seat.chainId)
    if (turn?.seat !== seat) return
    const nowMs = clock.monotonicMs()
    const before = nowMs - turn.sinceMs > GOOD_TURN_MS ? undefined : this.#abstaining.get(seat.chainId)
    const ms = before === undefined ? ABSTAIN_MS.first : Math.min(before.ms * 2, ABSTAIN_MS.most)
    this.#abstaining.set(seat.chainId, { untilMs: nowMs + ms, ms })
    await this.#leave(seat, () => seats.leaveSeat(seat))
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#loops)
    for (const seat of this.seats) void this.#leave(seat, () => this.#options.seats.leaveSeat(seat))
    await Promise.all(this.#leaving.values())
  }

  /** Stops the chain, then lets others know; signs of life for other chains go on meanwhile. */
  #leave(seat: Seat, then: () => Promise<void>): Promise<void> {
    this.#turns.delete(seat.chainId)
    const left = this.#options
      .onLost(seat)
      .then(then)
      .catch((failure: unknown) =>
        this.#options.log.warn('a chain was not released cleanly', {
          chain_id: seat.chainId,
          error: String(failure),
        }),
      )
      .finally(() => this.#leaving.delete(seat.chainId))
    this.#leaving.set(seat.chainId, left)
    return left
  }

  async #beat(): Promise<void> {
    const held = this.seats
    if (held.length === 0) return
    const kept = await this.#options.seats.beat(held)
    for (const seat of held) {
      if (kept.some(({ chainId }) => chainId === seat.chainId)) continue
      // Given up meanwhile, by ourselves.
      if (this.#turns.get(seat.chainId)?.seat !== seat) continue
      this.#options.log.warn('another process has taken over a chain', { chain_id: seat.chainId })
      void this.#leave(seat, async () => undefined)
    }
  }

  async #look(): Promise<void> {
    const views = new Map((await this.#options.seats.readSeats()).map(view => [view.chainId, view]))
    await Promise.all(
      this.#options.chainIds
        .filter(chainId => !this.#turns.has(chainId) && !this.#leaving.has(chainId))
        .filter(chainId => this.#isFree(chainId, views.get(chainId)))
        .map(chainId => this.#take(chainId, views.get(chainId) ?? null)),
    )
  }

  #isFree(chainId: number, view: SeatView | undefined): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    if ((this.#abstaining.get(chainId)?.untilMs ?? 0) > nowMs) return false
    if (view === undefined || view.owner === '') return true
    const seen = this.#seen.get(chainId)
    if (seen?.view.beats === view.beats) return nowMs - seen.sinceMs > SILENT_MS
    this.#seen.set(chainId, { view, sinceMs: nowMs })
    return false
  }

  async #take(chainId: number, seen: SeatView | null): Promise<void> {
    const { seats, owner, clock, log, onWon } = this.#options
    const seat = await seats.takeSeat(chainId, seen, owner)
    if (seat === null) return
    if (this.#abort.signal.aborted) return seats.leaveSeat(seat)
    this.#turns.set(chainId, { seat, sinceMs: clock.monotonicMs() })
    log.info('this process writes a chain', { chain_id: chainId, turn: seat.generation })
    onWon(seat)
  }

  /** A database that does not answer is asked again: meanwhile nobody's beats are counted. */
  async #every(ms: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.#abort
    while (!signal.aborted) {
      await task().catch((failure: unknown) => {
        this.#options.log.warn('leader election failed; trying again', { error: String(failure) })
      })
      await pause(ms, undefined, { signal }).catch(() => undefined)
    }
  }
}
