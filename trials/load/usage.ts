/**
 * Processor time and memory by role, read from /proc once a second. A role is a set of processes, or some threads of
 * one: in a single process, the API and the chains are distinguished by their threads.
 */
import { readdirSync, readFileSync } from 'node:fs'

export type Role = {
  readonly name: string
  readonly pids: readonly number[]
  /** Omitted, all threads, and all processes they have ever started: a database has a process for each connection. */
  readonly threads?: (name: string) => boolean
}

/** Cores are seconds of processor time per second. */
export type Used = { readonly role: string; readonly cores: number; readonly mib: number }

/** Other work on the machine, which disturbs the measurement. */
export const ELSEWHERE = 'elsewhere'
/** Cores that were idle while waiting for a disk. */
export const DISK = 'disk wait'

const SAMPLE_MS = 1000
/** USER_HZ, which is 100 wherever Node runs on Linux. */
const TICKS_PER_SECOND = 100

export class Meter {
  readonly #roles: readonly Role[]
  readonly #timer: NodeJS.Timeout
  #startMs = 0
  #startTicks: readonly number[] = []
  #startBusy = 0
  #startWaiting = 0
  /** Peak memory of each role in KiB. */
  #kib: number[] = []

  constructor(roles: readonly Role[]) {
    this.#roles = roles
    this.#timer = setInterval(() => this.#weigh(), SAMPLE_MS)
    this.begin()
  }

  /** Starts counting. */
  begin(): void {
    this.#startMs = performance.now()
    this.#startTicks = this.#roles.map(ticksOf)
    const stat = textOf('/proc/stat')
    this.#startBusy = busyTicksIn(stat)
    this.#startWaiting = waitingTicksIn(stat)
    this.#kib = this.#roles.map(() => 0)
    this.#weigh()
  }

  /** Since `begin`: mean cores and peak memory. Threads of a process share its memory, which is reported once. */
  read(): readonly Used[] {
    this.#weigh()
    const ticksPerCore = ((performance.now() - this.#startMs) / 1000) * TICKS_PER_SECOND
    const stat = textOf('/proc/stat')
    const busy = (busyTicksIn(stat) - this.#startBusy) / ticksPerCore
    const waiting = (waitingTicksIn(stat) - this.#startWaiting) / ticksPerCore
    const used = this.#roles.map((role, at) => ({
      role: role.name,
      cores: (ticksOf(role) - (this.#startTicks[at] as number)) / ticksPerCore,
      mib: (this.#kib[at] as number) / 1024,
    }))
    const elsewhere = Math.max(0, busy - sum(used.map(({ cores }) => cores)))
    return [...used, { role: ELSEWHERE, cores: elsewhere, mib: 0 }, { role: DISK, cores: waiting, mib: 0 }]
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #weigh(): void {
    const seen = new Set<number>()
    for (const [at, { pids, threads }] of this.#roles.entries()) {
      const own = pids.filter(pid => !seen.has(pid))
      for (const pid of own) seen.add(pid)
      this.#kib[at] = Math.max(
        this.#kib[at] as number,
        kibOf(threads === undefined ? own.flatMap(familyOf) : own),
      )
    }
  }
}

export function ticksOf({ pids, threads }: Role): number {
  if (threads === undefined)
    return sum(pids.flatMap(familyOf).map(pid => ticksIn(textOf(`/proc/${pid}/stat`), true)))
  return sum(
    pids.flatMap(pid =>
      idsIn(`/proc/${pid}/task`)
        .filter(thread => threads(textOf(`/proc/${pid}/task/${thread}/comm`).trim()))
        .map(thread => ticksIn(textOf(`/proc/${pid}/task/${thread}/stat`), false)),
    ),
  )
}

/**
 * utime and stime, and those of ended children: fields 14 to 17 of proc(5). The name before them is in brackets and
 * may contain anything.
 */
export function ticksIn(stat: string, withEnded: boolean): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return sum(fields.slice(11, withEnded ? 15 : 13).map(Number))
}

/** For all cores, without idle time and disk wait: the first line of /proc/stat without its fields 4 and 5. */
export function busyTicksIn(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = allCores(stat)
  return user + nice + system + irq + softirq
}

export const waitingTicksIn = (stat: string): number => allCores(stat)[4] ?? 0

const allCores = (stat: string): readonly number[] =>
  (stat.split('\n', 1)[0] ?? '').split(/\s+/).slice(1).map(Number)

/** Memory shared by several processes is counted once. */
function kibOf(pids: readonly number[]): number {
  const statuses = pids.map(pid => textOf(`/proc/${pid}/status`))
  const shared = statuses.map(status => kibIn(status, 'RssShmem'))
  return sum(statuses.map(status => kibIn(status, 'VmRSS'))) - sum(shared) + Math.max(0, ...shared)
}

export const kibIn = (status: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0)

function familyOf(pid: number): readonly number[] {
  const children = idsIn(`/proc/${pid}/task`).flatMap(thread =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(familyOf)]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Empty for a process that has ended since it was listed. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function idsIn(path: string): readonly number[] {
  try {
    return readdirSync(path).map(Number)
  } catch {
    return []
  }
}
