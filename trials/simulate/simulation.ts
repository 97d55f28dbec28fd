/**
 * A life of the whole service from one seed: two chains with reorganisations, processes that crash, a store that
 * fails, and clients that come and go, for the requested number of hours. Then a calm period follows, in which all
 * must reach the same state.
 */
import { createHash } from 'node:crypto'
import type { HealthStatus } from '../../packages/server/feed/feed.ts'
import { TOKENS } from '../../packages/engine/testing/randomMarket.ts'
import type { Bug } from './bugs.ts'
import { SimClient } from './client.ts'
import { SimProcess } from './process.ts'
import type { Pace } from './tempo.ts'
import type { Report } from './report.ts'
import { createWorld, type World } from './world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const CLIENTS = 6
/** The log keeps several minutes of a storm, or several hours of a quiet period. */
const KEPT_RECORDS = 500
/** Calm at the end, long enough for everyone to return. */
const CALM_MS = 3 * MINUTE_MS

const every = (stormMinutes: number, quietMinutes: number): Pace => ({
  stormMs: stormMinutes * MINUTE_MS,
  quietMs: quietMinutes * MINUTE_MS,
})
/** Mean intervals between events. */
const EVERY = {
  crash: every(12, 360),
  stop: every(30, 600),
  weather: every(8, 120),
  stall: every(10, 160),
  operator: every(5, 90),
  cut: every(2, 90),
  slow: every(1.5, 120),
  leave: every(6, 600),
  prune: every(4, 30),
} as const
/**
 * The factor between block times in quiet periods and storms: the chain makes a block when there is something to put
 * into it.
 */
const QUIET_BLOCKS = 60
const REORG_CHANCE = 0.16
/** The chance that a restart uses a backup, which begins an epoch. */
const EPOCH_CHANCE = 0.1

export type SimulationOptions = {
  readonly seed: number
  readonly hours: number
  readonly bug?: Bug | null
}

/** Throws `Broken` with the first violated law. */
export async function simulate({ seed, hours, bug = null }: SimulationOptions): Promise<Report> {
  const world = createWorld(seed, bug)
  const restore = world.time.install()
  try {
    const life = new Life(world)
    life.begin()
    const startMs = world.time.nowMs
    const look = () => world.verdict.assertWhole()
    await world.time.run(startMs + hours * HOUR_MS, look)
    life.calm()
    await world.time.run(startMs + hours * HOUR_MS + CALM_MS, look)
    // There is always activity, but within a minute there is a moment without any.
    for (let second = 1; second <= 60 && !life.isArrived; second++)
      await world.time.run(startMs + hours * HOUR_MS + CALM_MS + second * 1000, look)
    life.assertArrived()
    look()
    await life.end()
    look()
    return reportOf(world, seed, hours)
  } finally {
    restore()
  }
}

class Life {
  readonly #world: World
  readonly #clients: readonly SimClient[]
  #process: SimProcess | null = null
  #processes = 0

  constructor(world: World) {
    this.#world = world
    const chainIds = world.chains.map(({ chain }) => chain.chainId)
    this.#clients = Array.from(
      { length: CLIENTS },
      (_, at) =>
        new SimClient(world, `client ${at}`, chainIds[at % chainIds.length] as number, () => this.#process),
    )
  }

  begin(): void {
    const { chains, counts, randomOf, store, tempo, time } = this.#world
    tempo.begin()
    this.#start()
    for (const client of this.#clients) void client.run()
    for (const { chain, config } of chains) this.#mine(chain, config.blockTimeMs)
    this.#processFaults()
    this.#chainFaults()
    this.#clientFaults()
    const random = randomOf('operator')
    tempo.often('operator', EVERY.operator, () => {
      counts.wishes += 1
      const host = this.#process?.host(random.pick(chains).chain.chainId)
      const token = random.pick(TOKENS)
      const wish = random.pick(['ENROL', 'ENROL', 'ENROL', 'UNENROL', 'PAUSE'])
      const done =
        wish === 'ENROL'
          ? host?.enrol(token)
          : wish === 'UNENROL'
            ? host?.unenrol(token)
            : host?.setPaused(random.chance(0.4))
      // The outcome of a request is lost if its host dies before completing it.
      done?.catch(() => undefined)
    })
    tempo.often('prune', EVERY.prune, () => {
      const replayed = this.#process?.replayed ?? (() => null)
      void store.prune(KEPT_RECORDS, replayed).then(() => store.audit())
    })
    time.touch()
  }

  /** No more faults: all parts have time to catch up. */
  calm(): void {
    this.#world.tempo.calm()
    this.#world.store.isCalm = true
    for (const { weather } of this.#world.chains)
      Object.assign(weather, { status: 'HEALTHY', stalledUntilMs: 0 })
    for (const client of this.#clients) client.steady()
  }

  get isArrived(): boolean {
    return this.#clients.every(client => client.isCaughtUp)
  }

  assertArrived(): void {
    for (const client of this.#clients)
      this.#world.verdict.check('clients', client.isCaughtUp, () => `in the calm ${client.place}`)
    for (const client of this.#clients) client.compareAll()
  }

  async end(): Promise<void> {
    this.#process?.checkAll()
    for (const client of this.#clients) client.close()
    await this.#world.store.audit()
  }

  #start(): void {
    this.#process = new SimProcess(this.#world, `process ${this.#processes++}`, () => this.#ended())
    void this.#process.start()
  }

  /** Restarts the service. */
  #ended(): void {
    const { counts, randomOf, store, tempo, time } = this.#world
    this.#process = null
    const random = randomOf(`restart ${this.#processes}`)
    const isRestored = !tempo.isCalm && random.chance(EPOCH_CHANCE)
    time.after(1000 + random.below(MINUTE_MS), () => {
      if (!isRestored) return this.#start()
      counts.epochs += 1
      void store.startEpoch().then(() => this.#start())
    })
  }

  #mine(chain: World['chains'][number]['chain'], blockMs: number): void {
    const { randomOf, tempo, time } = this.#world
    const random = randomOf(`blocks ${chain.chainId}`)
    const next = (): void => {
      const meanMs = tempo.isStormy ? blockMs : blockMs * QUIET_BLOCKS
      time.after(meanMs / 2 + random.below(meanMs), () => {
        if (random.chance(REORG_CHANCE))
          chain.reorganise(1 + random.below(random.chance(0.1) ? 20 : 4), time.nowMs)
        else chain.mine(time.nowMs)
        next()
      })
    }
    next()
  }

  #processFaults(): void {
    const { counts, tempo } = this.#world
    tempo.often('crash', EVERY.crash, () => this.#process?.crash())
    tempo.often('stop', EVERY.stop, () => {
      counts.restarts += 1
      void this.#process?.stop()
    })
  }

  #chainFaults(): void {
    const { chains, counts, randomOf, tempo, time } = this.#world
    for (const { chain, weather } of chains) {
      const random = randomOf(`weather ${chain.chainId}`)
      tempo.often(`weather of ${chain.chainId}`, EVERY.weather, () => {
        counts.weather += 1
        weather.status = random.pick<HealthStatus>(['DEGRADED', 'GAP', 'UNAVAILABLE'])
        time.after(random.below(5 * MINUTE_MS), () => {
          weather.status = 'HEALTHY'
        })
      })
      tempo.often(`stall of ${chain.chainId}`, EVERY.stall, () => {
        counts.stalls += 1
        weather.stalledUntilMs = time.nowMs + random.below(4 * MINUTE_MS)
      })
    }
  }

  #clientFaults(): void {
    const { randomOf, tempo } = this.#world
    const random = randomOf('network')
    for (const [at, client] of this.#clients.entries()) {
      tempo.often(`cut of ${at}`, EVERY.cut, () => client.cut())
      tempo.often(`slowness of ${at}`, EVERY.slow, () => client.stall(random.below(MINUTE_MS)))
      tempo.often(`absence of ${at}`, EVERY.leave, () => client.leave(random.below(90 * MINUTE_MS)))
    }
  }
}

function reportOf({ chains, counts, ledger, store, verdict }: World, seed: number, hours: number): Report {
  return {
    seed,
    hours,
    blocks: chains.reduce((sum, { chain }) => sum + chain.blocks, 0),
    reorgs: chains.reduce((sum, { chain }) => sum + chain.reorgs, 0),
    records: ledger.records,
    counts: { ...counts },
    commits: { ...store.counts },
    checks: { ...verdict.checks },
    leftBehind: verdict.leftBehind,
    digest: createHash('sha256')
      .update(ledger.digest())
      .update(JSON.stringify(counts))
      .digest('hex')
      .slice(0, 16),
  }
}
