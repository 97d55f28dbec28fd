/**
 * The cases of a form, one after the other on one running service: at rest, swaps in rising steps, quotes on a
 * growing number of connections, a growing number of sockets, and finally all of them at once. Every case is one time
 * window that measures everything: volume, latency, and the cost to each role.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { LocalWorld } from '@assay/world'
import { quantile } from '../../bench/harness.ts'
import type { Form, Ground } from './ground.ts'
import { Part } from './part.ts'
import { type Made, provenFaults, Tally } from './proof.ts'
import type { Answered, Asked } from './quotes.ts'
import type { Delivered, Subscribed, Wish } from './subscribers.ts'
import type { Traded } from './trades.ts'
import { Meter, type Role, type Used } from './usage.ts'
import { Heads, Witness } from './witness.ts'

export type CaseName = 'rest' | 'swaps' | 'quotes' | 'sockets' | 'mixed'
export type Latency = {
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly longestMs: number
}
export type Case = {
  readonly form: Form
  readonly name: CaseName
  readonly swapsPerSecond: number
  /** As received by the witness: swaps and the prices that follow from them. */
  readonly recordsPerSecond: number
  readonly pricesPerSecond: number
  /** Records at all sockets together. */
  readonly deliveriesPerSecond: number
  readonly quotesPerSecond: number
  /** Includes the witness. */
  readonly sockets: number
  /** From a node's announcement of a block to its swaps at the witness; null when none arrived. */
  readonly latency: Latency | null
  readonly quotes: Pick<Answered, 'p50Ms' | 'p99Ms' | 'longestMs'> | null
  readonly used: readonly Used[]
  /** Every bound was met. */
  readonly isSustained: boolean
  /** The first bound that was not met. */
  readonly limit: string | null
}

export type Plan = {
  /** Swaps per second. */
  readonly swapSteps: readonly number[]
  /** Connections that request quotes. */
  readonly quoteSteps: readonly number[]
  /** The pace of the separate case with paced quotes. */
  readonly pacedQuotes: number
  /** Sockets per API node. */
  readonly socketSteps: readonly number[]
  /** Swaps per second in addition to quotes and sockets. */
  readonly background: number
  /** Once this many sockets per node are open. */
  readonly mixed: { readonly perNode: number; readonly swaps: number; readonly quotesPerSecond: number }
  /** Before the first window. */
  readonly warmUpSeconds: number
  /** After a change of pace. */
  readonly settleMs: number
  readonly stepSeconds: number
}

/** A block time: a record later than that is a block behind at the next one. */
export const LAG_BOUND_MS = 1000
export const QUOTE_BOUND_MS = 25
/** Below this share of the requested swaps, the chains or their trader are at their limit. */
const SHORTFALL = 0.9
/** The time at the end for all trades to reach the witness. */
const DRAIN_MS = 60_000
const LOOK_MS = 200

/** `notes` are worth reporting, but are not faults. */
export type Outcome = { readonly faults: readonly string[]; readonly notes: readonly string[] }

export async function runCases(
  ground: Ground,
  world: LocalWorld,
  trades: Part,
  plan: Plan,
  onCase: (found: Case) => void,
): Promise<Outcome> {
  const load = new Load(ground, world, trades, plan, onCase)
  try {
    return await load.run()
  } finally {
    await load.close()
  }
}

class Load {
  readonly #ground: Ground
  readonly #world: LocalWorld
  readonly #trades: Part
  readonly #plan: Plan
  readonly #onCase: (found: Case) => void
  readonly #heads: Heads
  readonly #quotes = new Part('quotes.ts')
  readonly #subscribers = new Part('subscribers.ts')
  readonly #meter: Meter
  readonly #tally: Tally
  readonly #faults: string[] = []
  readonly #notes: string[] = []
  #witness: Witness | null = null
  #sockets = 0

  constructor(ground: Ground, world: LocalWorld, trades: Part, plan: Plan, onCase: (found: Case) => void) {
    this.#ground = ground
    this.#world = world
    this.#trades = trades
    this.#plan = plan
    this.#onCase = onCase
    this.#heads = new Heads(world.chains)
    this.#tally = new Tally(world.chains)
    const others: readonly Role[] = [
      { name: 'chain nodes', pids: world.chains.map(chain => chain.pid()) },
      { name: 'load', pids: [trades.pid, this.#quotes.pid, this.#subscribers.pid] },
      { name: 'witness', pids: [process.pid], threads: () => true },
    ]
    this.#meter = new Meter([...ground.roles, ...others])
  }

  async run(): Promise<Outcome> {
    const { swapSteps, quoteSteps, pacedQuotes, socketSteps, background, mixed } = this.#plan
    const note = async (each: Case): Promise<Case> => {
      this.#onCase(each)
      await this.#tally.count()
      return each
    }
    await this.#renewWitness()
    await this.#warmUp()
    await this.#tally.count()
    await note(await this.#measure('rest', await this.#settled(0), null))
    for (const perSecond of swapSteps)
      if (!(await note(await this.#measure('swaps', await this.#settled(perSecond), null))).isSustained) break
    await this.#settled(background)
    await this.#caughtUp()
    for (const connections of quoteSteps)
      await note(await this.#measure('quotes', background, { connections, perSecond: null }))
    const connections = Math.max(...quoteSteps)
    await note(await this.#measure('quotes', background, { connections, perSecond: pacedQuotes }))
    for (const perNode of socketSteps) {
      if (!(await this.#openUpTo(perNode))) break
      await note(await this.#measure('sockets', background, null))
      if (perNode === mixed.perNode) await note(await this.#mixed())
    }
    await this.#settled(0)
    await this.#caughtUp()
    const proven = await this.#proof(await this.#tally.count())
    return { faults: [...this.#faults, ...proven], notes: this.#notes }
  }

  /** Runs some of every kind of load until code is compiled and caches are full. */
  async #warmUp(): Promise<void> {
    const { quoteSteps, background, warmUpSeconds } = this.#plan
    const { urls, keys, paths } = this.#ground
    await this.#settled(background)
    const asking = { connections: Math.max(...quoteSteps), perSecond: null, seconds: warmUpSeconds }
    await this.#quotes.call('ask', { urls, keys, paths, ...asking } satisfies Asked)
    await this.#caughtUp()
  }

  async #mixed(): Promise<Case> {
    const { mixed, quoteSteps, background } = this.#plan
    const asking = { connections: Math.max(...quoteSteps), perSecond: mixed.quotesPerSecond }
    const measured = await this.#measure('mixed', await this.#settled(mixed.swaps), asking)
    await this.#settled(background)
    return measured
  }

  async close(): Promise<void> {
    this.#meter.close()
    this.#heads.close()
    this.#witness?.close()
    await this.#quotes.close()
    await this.#subscribers.close()
  }

  async #measure(
    name: CaseName,
    askedSwaps: number,
    asking: Pick<Asked, 'connections' | 'perSecond'> | null,
  ): Promise<Case> {
    const { stepSeconds } = this.#plan
    const { urls, keys, paths, form } = this.#ground
    const witness = this.#witness as Witness
    await this.#trades.call('take')
    await this.#subscribers.call('take')
    witness.take()
    this.#meter.begin()
    const startMs = performance.now()
    const answered =
      asking === null
        ? await pause(stepSeconds * 1000, null)
        : await this.#quotes.call<Answered>('ask', {
            urls,
            keys,
            paths,
            seconds: stepSeconds,
            ...asking,
          } satisfies Asked)
    const seconds = (performance.now() - startMs) / 1000
    const used = this.#meter.read()
    const { records, swaps, latenciesMs } = witness.take()
    const delivered = await this.#subscribers.call<Delivered>('take')
    const traded = await this.#trades.call<Traded>('take')
    this.#faults.push(...faultsIn(answered), ...witness.faults.splice(0))
    const latency = latencyOf(latenciesMs)
    const limit = limitOf(askedSwaps, traded, latency, answered)
    return {
      form,
      name,
      swapsPerSecond: traded.swaps / traded.seconds,
      recordsPerSecond: records / seconds,
      pricesPerSecond: (records - swaps) / seconds,
      deliveriesPerSecond: records / seconds + delivered.records / delivered.seconds,
      quotesPerSecond: answered?.perSecond ?? 0,
      sockets: this.#sockets + 1,
      latency,
      quotes: answered,
      used,
      isSustained: limit === null,
      limit,
    }
  }

  /** Waits until the requested pace is reached. */
  async #settled(swapsPerSecond: number): Promise<number> {
    await this.#trades.call('setPace', swapsPerSecond)
    await pause(this.#plan.settleMs)
    return swapsPerSecond
  }

  /** Opens the same number of sockets at every API node, the witness last; false when there was no room for some. */
  async #openUpTo(perNode: number): Promise<boolean> {
    const { urls, keys } = this.#ground
    const wanted = perNode * urls.length - this.#sockets
    const chainIds = this.#chainIds()
    const refused = await Promise.all(
      urls.map((url, at) => {
        const target = { url, key: keys[at % keys.length] as string, chainIds }
        return this.#subscribers.call<number>('open', {
          target,
          sockets: wanted / urls.length,
        } satisfies Wish)
      }),
    )
    const missing = refused.reduce((sum, each) => sum + each, 0)
    this.#sockets += wanted - missing
    if (missing > 0) {
      this.#notes.push(
        `${missing} of ${perNode * urls.length} sockets found no place, however often they came back`,
      )
      return false
    }
    await this.#renewWitness()
    await pause(this.#plan.settleMs)
    return true
  }

  async #renewWitness(): Promise<void> {
    const { urls, keys } = this.#ground
    this.#witness?.close()
    const target = { url: urls.at(-1) as string, key: keys[0] as string, chainIds: this.#chainIds() }
    this.#witness = await Witness.open(target, this.#heads)
  }

  /** Waits until swaps arrive within the expected time. */
  async #caughtUp(): Promise<void> {
    const witness = this.#witness as Witness
    for (const endMs = performance.now() + DRAIN_MS; performance.now() < endMs; ) {
      witness.take()
      await pause(this.#plan.settleMs)
      const { latenciesMs } = witness.take()
      if (latenciesMs.length > 0 && quantile(latenciesMs, 0.9) < LAG_BOUND_MS) return
    }
    this.#faults.push(`the service did not catch up within ${DRAIN_MS / 1000} s of the load going down`)
  }

  /** Checks everything traded so far, while the chains continue. */
  async #proof(made: readonly Made[]): Promise<readonly string[]> {
    await this.#delivered(made)
    const { open, heard, faults, turnedAway, tooSlow } = await this.#subscribers.call<Subscribed>('report')
    if (turnedAway > 0)
      this.#notes.push(`${turnedAway} handshakes got 503 with Retry-After, and succeeded later`)
    if (tooSlow > 0)
      this.#notes.push(`${tooSlow} sockets were closed with 1013: their process could not read as fast`)
    const missing = open + tooSlow === this.#sockets ? [] : [`${open} of ${this.#sockets} sockets are open`]
    await this.#subscribers.call('leave')
    return [...missing, ...faults, ...(await provenFaults(this.#ground.configFile, made, heard))]
  }

  /** Waits until the witness has swaps of these blocks: every block has one. */
  async #delivered(made: readonly Made[]): Promise<void> {
    const witness = this.#witness as Witness
    const behind = () => made.filter(({ chainId, to }) => witness.heightOf(chainId) < to)
    for (const endMs = performance.now() + DRAIN_MS; behind().length > 0; await pause(LOOK_MS))
      if (performance.now() > endMs) {
        const late = behind().map(({ chainId }) => chainId)
        this.#faults.push(`what chains ${late.join(', ')} traded did not arrive`)
        return
      }
  }

  #chainIds(): readonly number[] {
    return this.#world.chains.map(({ plan }) => plan.chainId)
  }
}

/** Null while every bound is met. */
function limitOf(
  askedSwaps: number,
  traded: Traded,
  latency: Latency | null,
  answered: Answered | null,
): string | null {
  // A window may miss one block of each chain at its edges.
  if (traded.swaps < SHORTFALL * askedSwaps * Math.max(0, traded.seconds - 1))
    return `the chains traded ${Math.round(traded.swaps / traded.seconds)} of ${askedSwaps} swaps/s`
  if (latency === null) return 'no swap arrived'
  if (latency.p99Ms > LAG_BOUND_MS) return `p99 of the lag above ${LAG_BOUND_MS} ms`
  if (answered !== null && answered.p99Ms > QUOTE_BOUND_MS) return `p99 of quotes above ${QUOTE_BOUND_MS} ms`
  return null
}

/** Everything except a successful answer. */
function faultsIn(answered: Answered | null): readonly string[] {
  return Object.entries(answered?.byStatus ?? {})
    .filter(([status]) => status !== '200')
    .map(([status, count]) => `${count} quotes were answered with ${status}`)
}

export function latencyOf(latenciesMs: readonly number[]): Latency | null {
  if (latenciesMs.length === 0) return null
  const at = (share: number) => quantile(latenciesMs, share)
  return { p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), longestMs: at(1) }
}

/** Shown on the terminal while it runs. */
export const lineOf = ({
  form,
  name,
  swapsPerSecond,
  quotesPerSecond,
  sockets,
  latency,
  quotes,
  limit,
}: Case): string =>
  [
    `${form}  ${name.padEnd(8)}`,
    `${Math.round(swapsPerSecond)} swaps/s`,
    ...(quotesPerSecond > 0
      ? [`${Math.round(quotesPerSecond)} quotes/s, p99 ${quotes?.p99Ms.toFixed(1)} ms`]
      : []),
    `${sockets} sockets`,
    latency === null
      ? 'no swap at the witness'
      : `lag p50 ${latency.p50Ms.toFixed(0)} ms, p99 ${latency.p99Ms.toFixed(0)} ms`,
    ...(limit === null ? [] : [limit]),
  ].join('  ')
