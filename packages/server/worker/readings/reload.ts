/**
 * After a restart at the head, everything read from the chain is unknown: stable answers, decimals and pools are read
 * again here, in groups. Until that is complete the chain has no prices and its health says `REBASED`. Afterwards
 * factories are searched for pools created in the gap.
 */
import type { Input, State, StepResult } from '@assay/engine'
import type { Market } from '../../market/market.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Address } from '../../ops/hex.ts'
import type { Log } from '../../ops/log.ts'
import { Audit, bornAs, readFacts } from './audit.ts'
import { untilAnswered } from '../bootstrap.ts'
import type { Enrolments } from './enrolments.ts'
import { inHalves } from './inHalves.ts'
import type { Intake } from './intake.ts'
import type { RequestedReadings } from './requestedReadings.ts'

type ReloadContext = {
  readonly chain: ChainConfig
  readonly state: State
  readonly market: Market
  readonly intake: Intake
  readonly enrolments: Pick<Enrolments, 'know'>
  readonly requested: Pick<RequestedReadings, 'note'>
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<StepResult>
  readonly now: () => Input['atMs']
  /** Called when prices may be published again. */
  readonly onReloaded: () => Promise<void>
  readonly onFailure: (failure: unknown) => void
  readonly signal: AbortSignal
  readonly log: Log
}

/** Pools read together: a few calls with Multicall3, and blocks get their turn in between. */
const POOLS = 50
/** Tokens whose pools are looked up together, as at the start of a chain. */
const TOKENS = 10

export class Reload {
  readonly #context: ReloadContext
  readonly #waiting = new Set<Address>()
  /** Tokens whose facts were read since the last gap. */
  readonly #known = new Set<Address>()
  #areStablesDue: boolean
  #isRebasing: boolean
  #isSearchDue: boolean
  #isRunning = false

  constructor(context: ReloadContext) {
    this.#context = context
    const { pools } = context.state
    for (const { address, state } of pools.values()) if (state.isBeforeGap) this.#waiting.add(address)
    // The process ended before all pools were read.
    this.#isRebasing = this.#waiting.size > 0
    this.#areStablesDue = this.#isRebasing
    this.#isSearchDue = this.#isRebasing
  }

  /** Publish no price: it would rest on partly known state. */
  get isRebasing(): boolean {
    return this.#isRebasing
  }

  /** The chain is about to restart at its head: everything is unknown. */
  rebased(): void {
    this.#isRebasing = true
    this.#areStablesDue = true
    this.#isSearchDue = true
    this.#known.clear()
  }

  /** Blocks in which pools had been read were orphaned: those pools are unknown again. */
  reorganised(): void {
    if (this.#waiting.size > 0) this.#isRebasing = true
  }

  /** Pools a step requested because they are known only from before a gap. */
  note(needs: StepResult['needs']): void {
    for (const need of needs) if (need.kind === 'load' && need.why === 'REBASED') this.#waiting.add(need.pool)
    if (this.#waiting.size > 0) this.start()
  }

  /** Starts if there is anything to read. */
  start(): void {
    if (this.#isRunning || (this.#waiting.size === 0 && !this.#isRebasing)) return
    this.#isRunning = true
    this.#run().catch((failure: unknown) => {
      this.#isRunning = false
      if (!this.#context.signal.aborted) this.#context.onFailure(failure)
    })
  }

  async #run(): Promise<void> {
    const patiently = (task: () => Promise<unknown>) => untilAnswered(task, this.#context)
    for (;;) {
      if (this.#areStablesDue) await patiently(() => this.#readStables())
      else if (this.#waiting.size > 0) await patiently(() => this.#readPools())
      else if (this.#isRebasing) {
        this.#isRebasing = false
        await this.#context.onReloaded()
      } else if (this.#isSearchDue) {
        this.#isSearchDue = false
        await this.#search()
      } else {
        this.#isRunning = false
        return
      }
    }
  }

  async #readPools(): Promise<void> {
    const { intake, log, market, requested, signal, state } = this.#context
    const group = [...this.#waiting].slice(0, POOLS)
    const pools = group.flatMap(address => state.pools.get(address) ?? [])
    const tokens = new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]))
    const unread = [...tokens].filter(token => !this.#known.has(token))
    await inHalves(
      unread,
      some => this.#readFacts(some),
      (token, { message: reason }) =>
        log.warn('a token could not be read after the gap', { token_address: token, reason }),
      signal,
    )
    // From here on, another request for the same pool is a new one.
    for (const address of group) this.#waiting.delete(address)
    try {
      await inHalves(
        pools,
        some =>
          intake.pools(some.filter(({ state: { isBeforeGap } }) => isBeforeGap).map(bornAs), {
            market,
            signal,
          }),
        ({ address }, { message: reason }) => {
          log.warn('a pool could not be read after the gap', { pool_address: address, reason })
          requested.note([{ kind: 'load', pool: address, why: 'UNVERIFIED' }])
        },
        signal,
      )
    } catch (failure) {
      for (const { address } of pools) this.#waiting.add(address)
      throw failure
    }
  }

  /** Searches for pools created in the gap. */
  async #search(): Promise<void> {
    const { enrolments, log, signal } = this.#context
    const tokens = this.#searched()
    for (let at = 0; at < tokens.length; at += TOKENS) {
      // Prices come first: another gap is reloaded before the search continues.
      if (this.#isRebasing) {
        this.#isSearchDue = true
        return
      }
      await untilAnswered(
        () =>
          inHalves(
            tokens.slice(at, at + TOKENS),
            some => enrolments.know(some),
            (token, { message: reason }) =>
              log.warn('pools of a token could not be looked up after the gap', {
                token_address: token,
                reason,
              }),
            signal,
          ),
        this.#context,
      )
    }
  }

  #readStables(): Promise<void> {
    const { intake, market, apply, now, signal } = this.#context
    return intake.take(
      { market, signal },
      block => market.readStables(block, signal),
      async (reading, block) => {
        this.#areStablesDue = false
        await apply({ kind: 'stable', block, ...reading, atMs: now() })
      },
    )
  }

  /** Hands in only facts that differ. */
  #readFacts(tokens: readonly Address[]): Promise<void> {
    const { intake, state, market, apply, now, signal } = this.#context
    const audit = new Audit(state)
    return intake.take(
      { market, signal },
      block => readFacts(market, tokens, block, signal),
      async (read, block) => {
        const facts = read.filter(each => audit.differs(each))
        for (const token of tokens) this.#known.add(token)
        if (facts.length > 0) await apply({ kind: 'token_facts', block, facts, atMs: now() })
      },
    )
  }

  /** Anchors and all enrolled tokens. */
  #searched(): readonly Address[] {
    const { chain, state } = this.#context
    const anchors = [...chain.stables.map(({ tokenAddress }) => tokenAddress), ...chain.routingAssets]
    const enrolled = [...state.tokens.values()].filter(({ enrolledAtMs }) => enrolledAtMs !== null)
    return [...new Set([...anchors, ...enrolled.map(({ address }) => address)])]
  }
}
