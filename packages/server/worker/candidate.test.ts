import { afterEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../ops/clock.ts'
import type { Seat, SeatStore, SeatView } from '../store/cluster.ts'
import { StoppedClock } from '../service/testing/testClock.ts'
import { until } from '../service/testing/until.ts'
import { Candidate } from './candidate.ts'
import { QUIET } from '../ops/testing/quiet.ts'

/** Seats in memory; those of the database are held to the same by their own test. */
class Seats implements SeatStore {
  readonly views = new Map<number, SeatView>()
  reads = 0

  async readSeats(): Promise<readonly SeatView[]> {
    this.reads += 1
    return [...this.views.values()]
  }

  async takeSeat(chainId: number, seen: SeatView | null, owner: string): Promise<Seat | null> {
    const now = this.views.get(chainId)
    if (now?.generation !== seen?.generation || now?.beats !== seen?.beats) return null
    const generation = (now?.generation ?? 0) + 1
    this.views.set(chainId, { chainId, generation, beats: (now?.beats ?? 0) + 1, owner })
    return { chainId, generation }
  }

  async beat(seats: readonly Seat[]): Promise<readonly Seat[]> {
    return seats.filter(({ chainId, generation }) => {
      const now = this.views.get(chainId)
      if (now?.generation !== generation) return false
      this.views.set(chainId, { ...now, beats: now.beats + 1 })
      return true
    })
  }

  async leaveSeat({ chainId, generation }: Seat): Promise<void> {
    const now = this.views.get(chainId)
    if (now?.generation === generation) this.views.set(chainId, { ...now, owner: '' })
  }

  ownerOf(chainId: number): string | undefined {
    return this.views.get(chainId)?.owner
  }
}

const open: Candidate[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

function candidate(
  seats: Seats,
  owner: string,
  onLost: (seat: Seat) => Promise<void> = async () => undefined,
  clock: Clock = systemClock,
) {
  const options = {
    seats,
    chainIds: [1, 2],
    owner,
    clock,
    log: QUIET,
    onWon: () => undefined,
    onLost,
  }
  open.push(new Candidate(options))
  return open.at(-1) as Candidate
}

test('a chain that fails here is left to another, and the others are kept', async () => {
  const seats = new Seats()
  const first = candidate(seats, 'first')
  await until('both chains', () => first.seats.length === 2)
  const second = candidate(seats, 'second')
  await first.resign(first.seats.find(({ chainId }) => chainId === 1) as Seat)
  await until('the second has it', () => seats.ownerOf(1) === 'second')
  expect(seats.ownerOf(2)).toBe('first')
  expect(first.seats.map(({ chainId }) => chainId)).toEqual([2])
  expect(second.seats.map(({ chainId }) => chainId)).toEqual([1])
})

test('a holder that has not beaten for four seconds loses its seat, and not before', async () => {
  const seats = new Seats()
  for (const chainId of [1, 2]) await seats.takeSeat(chainId, null, 'silent')
  const clock = new StoppedClock()
  const next = candidate(seats, 'next', undefined, clock)
  const looks = async (times: number): Promise<void> => {
    const { reads } = seats
    await until(`${times} looks`, () => seats.reads >= reads + times)
  }
  await looks(2)
  clock.advance(4000)
  await looks(3)
  expect(next.seats).toEqual([])
  // With the four seconds after which PostgreSQL ends a commit nobody goes on with, and half a second to the next look: ten at most.
  clock.advance(1)
  await until('both chains', () => next.seats.length === 2)
  expect([seats.ownerOf(1), seats.ownerOf(2)]).toEqual(['next', 'next'])
})

test('with nobody else, it takes the chain again by itself', async () => {
  const seats = new Seats()
  const only = candidate(seats, 'only')
  await until('both chains', () => only.seats.length === 2)
  const [failed] = only.seats as [Seat]
  await only.resign(failed)
  expect(seats.ownerOf(failed.chainId)).toBe('')
  await until('again', () => only.seats.some(({ generation }) => generation === failed.generation + 1))
})

test('a chain that takes long to stop here does not cost the others', async () => {
  const seats = new Seats()
  let [stopping, stopped] = [0, 0]
  const slow = candidate(seats, 'slow', async () => {
    stopping += 1
    await until('let go', () => stopped > 0)
  })
  await until('both chains', () => slow.seats.length === 2)
  // Somebody took the first one over; it beats the second while the first still ends, and does not want it back yet.
  const taken = await seats.takeSeat(1, seats.views.get(1) as SeatView, 'another')
  await until('noticed', () => stopping === 1)
  await seats.leaveSeat(taken as Seat)
  const { beats } = seats.views.get(2) as SeatView
  await until('two more beats', () => (seats.views.get(2)?.beats ?? 0) >= beats + 2)
  expect(seats.ownerOf(1)).toBe('')
  stopped += 1
  await until('its turn again', () => seats.ownerOf(1) === 'slow')
})
