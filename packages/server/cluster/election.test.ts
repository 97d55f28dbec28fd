import { afterEach, expect, test } from 'vitest'
import { type Clock, systemClock } from '../ops/clock.ts'
import type { Lease, LeaseStore, LeaseView } from '../store/cluster.ts'
import { StoppedClock } from '../endToEnd/testing/testClock.ts'
import { until } from '../endToEnd/testing/until.ts'
import { WriterElection } from './election.ts'
import { QUIET } from '../ops/testing/quiet.ts'

/** Leases in memory; those of the database are held to the same by their own test. */
class Leases implements LeaseStore {
  readonly views = new Map<number, LeaseView>()
  reads = 0

  async readLeases(): Promise<readonly LeaseView[]> {
    this.reads += 1
    return [...this.views.values()]
  }

  async takeLease(chainId: number, seen: LeaseView | null, owner: string): Promise<Lease | null> {
    const now = this.views.get(chainId)
    if (now?.generation !== seen?.generation || now?.beats !== seen?.beats) return null
    const generation = (now?.generation ?? 0) + 1
    this.views.set(chainId, { chainId, generation, beats: (now?.beats ?? 0) + 1, owner })
    return { chainId, generation }
  }

  async beat(leases: readonly Lease[]): Promise<readonly Lease[]> {
    return leases.filter(({ chainId, generation }) => {
      const now = this.views.get(chainId)
      if (now?.generation !== generation) return false
      this.views.set(chainId, { ...now, beats: now.beats + 1 })
      return true
    })
  }

  async leaveLease({ chainId, generation }: Lease): Promise<void> {
    const now = this.views.get(chainId)
    if (now?.generation === generation) this.views.set(chainId, { ...now, owner: '' })
  }

  ownerOf(chainId: number): string | undefined {
    return this.views.get(chainId)?.owner
  }
}

const open: WriterElection[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

function election(
  leases: Leases,
  owner: string,
  onLost: (lease: Lease) => Promise<void> = async () => undefined,
  clock: Clock = systemClock,
) {
  const options = {
    leases,
    chainIds: [1, 2],
    owner,
    clock,
    log: QUIET,
    onWon: () => undefined,
    onLost,
  }
  open.push(new WriterElection(options))
  return open.at(-1) as WriterElection
}

test('a chain that fails here is handed over to another process, and the others are kept', async () => {
  const leases = new Leases()
  // Time stands still, so that the first abstains until the second has looked, however long that takes.
  const clock = new StoppedClock()
  const first = election(leases, 'first', undefined, clock)
  await until('both chains', () => first.leases.length === 2)
  const second = election(leases, 'second', undefined, clock)
  await first.resign(first.leases.find(({ chainId }) => chainId === 1) as Lease)
  await until('the second has it', () => leases.ownerOf(1) === 'second')
  expect(leases.ownerOf(2)).toBe('first')
  expect(first.leases.map(({ chainId }) => chainId)).toEqual([2])
  expect(second.leases.map(({ chainId }) => chainId)).toEqual([1])
})

test('a holder without a heartbeat for four seconds loses its lease, and not before', async () => {
  const leases = new Leases()
  for (const chainId of [1, 2]) await leases.takeLease(chainId, null, 'silent')
  const clock = new StoppedClock()
  const next = election(leases, 'next', undefined, clock)
  const looks = async (times: number): Promise<void> => {
    const { reads } = leases
    await until(`${times} looks`, () => leases.reads >= reads + times)
  }
  await looks(2)
  clock.advance(4000)
  await looks(3)
  expect(next.leases).toEqual([])
  // With the four seconds after which PostgreSQL ends an abandoned commit, and half a second to the next check: ten at most.
  clock.advance(1)
  await until('both chains', () => next.leases.length === 2)
  expect([leases.ownerOf(1), leases.ownerOf(2)]).toEqual(['next', 'next'])
})

test('without another process, it takes the chain again', async () => {
  const leases = new Leases()
  const only = election(leases, 'only')
  await until('both chains', () => only.leases.length === 2)
  const [failed] = only.leases as [Lease]
  await only.resign(failed)
  expect(leases.ownerOf(failed.chainId)).toBe('')
  await until('again', () => only.leases.some(({ generation }) => generation === failed.generation + 1))
})

test('a chain that stops slowly here does not affect the others', async () => {
  const leases = new Leases()
  let [stopping, stopped] = [0, 0]
  const slow = election(leases, 'slow', async () => {
    stopping += 1
    await until('let go', () => stopped > 0)
  })
  await until('both chains', () => slow.leases.length === 2)
  // Somebody took the first one over; it beats the second while the first still ends, and does not want it back yet.
  const taken = await leases.takeLease(1, leases.views.get(1) as LeaseView, 'another')
  await until('noticed', () => stopping === 1)
  await leases.leaveLease(taken as Lease)
  const { beats } = leases.views.get(2) as LeaseView
  await until('two more beats', () => (leases.views.get(2)?.beats ?? 0) >= beats + 2)
  expect(leases.ownerOf(1)).toBe('')
  stopped += 1
  await until('its turn again', () => leases.ownerOf(1) === 'slow')
})
