/**
 * A process of the service: real chain hosts, a real hub, roster and subscribers on the simulated store and chains.
 * It ends either with a crash, which loses everything uncommitted, or with an orderly stop.
 */
import { DEFAULT_POLICY, type Input, type State } from '../../packages/engine/index.ts'
import { Batches } from '../../packages/server/stream/batches.ts'
import { WEB_SOCKET } from '../../packages/server/stream/frames.ts'
import { parseSubscribe } from '../../packages/server/stream/filter.ts'
import { Hub } from '../../packages/server/stream/hub.ts'
import { Roster } from '../../packages/server/stream/roster.ts'
import { restartNotice, startOf } from '../../packages/server/stream/streamStart.ts'
import { Subscriber, type SubscriberContext } from '../../packages/server/stream/subscriber.ts'
import { StoreError } from '../../packages/server/store/storeError.ts'
import { type ChainHost, startChain } from '../../packages/server/worker/chainHost.ts'
import type { Random } from '../../packages/engine/testing/randomMarket.ts'
import { buggyLog, buggyStep } from './bugs.ts'
import { SimFeed } from './feed.ts'
import { simMarket } from './market.ts'
import type { ProcessStore } from './store.ts'
import { watchedStep } from './watchedStep.ts'
import type { Door, Wire } from './wire.ts'
import type { ChainWorld, World } from './world.ts'
import { QUIET } from '../../packages/server/ops/testing/quiet.ts'

const PAUSE = { first: 500, most: 30_000, goodLifeMs: 60_000 } as const
/** A worker's notification of a commit may be lost: the hub also checks by itself. */
const LOST_WAKE_CHANCE = 0.2

/** Small, so that a stalled socket fills quickly. */
const SOCKET_BYTES = 16 * 1024

type Guest = { readonly wire: Wire; subscriber: Subscriber | null; readonly leave: () => void }

export class SimProcess {
  readonly #world: World
  readonly #random: Random
  readonly #store: ProcessStore
  readonly #die: () => void
  readonly #hosts = new Map<number, ChainHost>()
  readonly #guests = new Set<Guest>()
  readonly #waiting = new Set<(failure: Error) => void>()
  /** The last steps that are not known to be committed, by chain. */
  readonly #stepped = new Map<number, { readonly state: State; readonly input: Input }>()
  /** The last committed state, by chain. */
  readonly #committed = new Map<number, { readonly state: State; readonly input: Input }>()
  readonly #roster: Roster
  readonly #onEnd: () => void
  #hub: Hub | null = null
  #context: SubscriberContext | null = null
  #isUp = true

  constructor(world: World, name: string, onEnd: () => void) {
    this.#world = world
    this.#random = world.randomOf(name)
    this.#onEnd = onEnd
    const { store, die } = world.store.open(world.randomOf(`${name} store`), {
      onDeath: () => this.#crashed(),
      onApplied: ({ chainId }) => this.#applied(chainId),
      isRepeating: world.bug === 'REPEATED_COMMIT',
    })
    this.#store = store
    this.#die = die
    this.#roster = new Roster(world.time.clock)
  }

  get store(): ProcessStore {
    return this.#store
  }

  get replayed(): () => number | null {
    return () => this.#roster.replayed()
  }

  host(chainId: number): ChainHost | null {
    return this.#hosts.get(chainId) ?? null
  }

  async start(): Promise<void> {
    const { time, bug } = this.#world
    while (this.#isUp && this.#hub === null) {
      const opened = Hub.open(buggyLog(bug, this.#random, this.#store), time.clock)
      this.#hub = await opened.catch(() => null)
      if (this.#hub === null) await time.pause(PAUSE.first)
    }
    const hub = this.#hub as Hub
    if (!this.#isUp) return hub.close()
    const batches = new Batches(WEB_SOCKET)
    this.#context = { hub, store: this.#store, clock: time.clock, batches, maxBuffered: SOCKET_BYTES }
    for (const chain of this.#world.chains) void this.#keep(chain)
  }

  crash(): void {
    this.#die()
  }

  /** An orderly stop: clients are asked to return, and running work is ended. */
  async stop(): Promise<void> {
    if (!this.#isUp) return
    this.#isUp = false
    for (const { subscriber, wire } of this.#guests)
      if (subscriber === null) wire.close(1012, restartNotice())
      else subscriber.close(1012, restartNotice())
    await Promise.all([...this.#hosts.values()].map(host => host.close()))
    this.#gone()
  }

  /** A request that fails when the process ends, as a connection would. */
  request<Result>(task: (store: ProcessStore) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      task(this.#store)
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject))
    })
  }

  /** Accepts or refuses a connection. */
  readonly accept = (wire: Wire): Door | null => {
    if (!this.#isUp || this.#context === null || this.#roster.admit() !== null) return null
    const guest: Guest = { wire, subscriber: null, leave: this.#roster.enter('simulated') }
    this.#guests.add(guest)
    return {
      onFrame: text =>
        void this.#subscribe(guest, text).catch(() => wire.close(1011, 'the log could not be read')),
      onGone: () => {
        guest.subscriber?.stop()
        guest.leave()
        this.#guests.delete(guest)
      },
    }
  }

  async #subscribe(guest: Guest, text: string): Promise<void> {
    const { time, chains, cursorSecret, verdict } = this.#world
    const context = this.#context as SubscriberContext
    const subscription = parseSubscribe(text, new Set(chains.map(({ chain }) => chain.chainId)))
    if ('fault' in subscription)
      return verdict.check('endings', false, () => `a subscribe frame is refused: ${subscription.fault}`)
    const start = await startOf({ ...context, clock: time.clock, cursorSecret }, subscription)
    if (guest.wire.isOver || !this.#isUp) return
    if (start.kind === 'RESET') return guest.wire.reset(start.reason)
    if (start.kind === 'BEHIND') return guest.wire.close(1013, `last_sequence=${start.sequence}`)
    guest.subscriber = new Subscriber(guest.wire, subscription, start.after, start.isReplaying, context)
    this.#roster.note(guest.subscriber)
  }

  /** Runs one chain, restarting it as needed. */
  async #keep(chain: ChainWorld): Promise<void> {
    const { time, counts, verdict } = this.#world
    let pauseMs: number = PAUSE.first
    while (this.#isUp) {
      const startedAtMs = time.nowMs
      try {
        const host = await startChain(this.#options(chain))
        if (!this.#isUp) return void host.close()
        this.#hosts.set(host.chainId, host)
        await host.ended
      } catch (failure) {
        verdict.check(
          'endings',
          failure instanceof StoreError,
          () => `chain ${chain.config.chainId} ended: ${(failure as Error).stack}`,
        )
      }
      void this.#hosts.get(chain.config.chainId)?.close()
      this.#hosts.delete(chain.config.chainId)
      if (!this.#isUp) return
      counts.failures += 1
      if (time.nowMs - startedAtMs > PAUSE.goodLifeMs) pauseMs = PAUSE.first
      await time.pause(pauseMs)
      pauseMs = Math.min(pauseMs * 2, PAUSE.most)
    }
  }

  #options({ chain, config, oracle, weather }: ChainWorld): Parameters<typeof startChain>[0] {
    const { time, counts, verdict, bug } = this.#world
    const onStep = (state: State, input: Input) => {
      this.#stepped.set(config.chainId, { state, input })
    }
    return {
      chain: config,
      policy: DEFAULT_POLICY,
      coverage: [],
      store: this.#store,
      openFeed: async resume => new SimFeed(chain, this.#world, weather, resume),
      openMarket: () => simMarket(chain, oracle, this.#world, this.#random),
      clock: time.clock,
      log: QUIET,
      onCommitted: () => {
        if (this.#random.chance(LOST_WAKE_CHANCE)) counts.lostWakes += 1
        else this.#hub?.wake()
      },
      step: watchedStep(chain, verdict, onStep, buggyStep(bug, this.#random)),
    }
  }

  /** The step of a chain is durable, whether or not its worker is notified. */
  #applied(chainId: number): void {
    const { chains, ledger, counts } = this.#world
    const stepped = this.#stepped.get(chainId) as { state: State; input: Input }
    const { state, input } = stepped
    this.#committed.set(chainId, stepped)
    const { reference } = chains.find(({ chain }) => chain.chainId === chainId) as ChainWorld
    counts.steps += 1
    reference.note(input)
    ledger.compare(chainId, state)
    if (reference.isDue) reference.check(state, input.atMs)
  }

  /** Compares every chain it has followed with the final one, in its present state. */
  checkAll(): void {
    for (const { chain, reference } of this.#world.chains) {
      const last = this.#committed.get(chain.chainId)
      if (last !== undefined) reference.check(last.state, last.input.atMs)
    }
  }

  #crashed(): void {
    this.#isUp = false
    this.#world.counts.crashes += 1
    for (const host of this.#hosts.values()) void host.close()
    for (const { wire } of this.#guests) wire.cut()
    this.#gone()
  }

  #gone(): void {
    this.#hub?.close()
    for (const { subscriber } of this.#guests) subscriber?.stop()
    for (const reject of this.#waiting) reject(new Error('the connection was lost'))
    this.#onEnd()
  }
}
