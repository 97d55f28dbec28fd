/**
 * Reads, concurrently with the blocks, what blocks do not contain: feed answers missing from logs, pools that have
 * not been verified lately, and decimals that may have changed. A failed read is retried at a later block; a
 * failed commit is rethrown.
 *
 * In a steady state this is a call or two a minute, because proven blocks contain nearly everything.
 */
import type { Input, State } from '@assay/engine'
import type { VerifiedBlock } from '../../feed/feed.ts'
import { isFeedError } from '../../feed/feedError.ts'
import type { FeedAnswers } from '../../market/answerLogs.ts'
import type { KnownTicks } from '../../market/market.ts'
import type { Clock } from '../../ops/clock.ts'
import type { Address } from '../../ops/hex.ts'
import type { Log } from '../../ops/log.ts'
import { AnswerWatch } from './answerWatch.ts'
import { Audit, bornAs, driftedTicks, knownTicksOf, readFacts } from './audit.ts'
import { inHalves } from './inHalves.ts'
import type { Intake, Means } from './intake.ts'
import { quietPools } from './quietPools.ts'

export type UpkeepContext = Means & {
  readonly state: State
  readonly intake: Intake
  readonly apply: (input: Input) => Promise<unknown>
  readonly now: () => Input['atMs']
  readonly clock: Clock
  readonly log: Log
  readonly intervals?: { readonly tokensMs: number; readonly poolsMs: number }
}

/** How often quiet pools are looked for; where blocks are proven there are none. */
const QUIET_INTERVAL_MS = 15_000
/** How often some tokens, and some pools, are compared with the chain: a thousand tokens in two hours. */
const AUDIT_INTERVALS = { tokensMs: 60_000, poolsMs: 60_000 } as const

type Timed = 'quiet' | 'tokens' | 'pools'
type Task = Timed | 'stables'

export class Upkeep {
  readonly #context: UpkeepContext
  readonly #audit: Audit
  readonly #answers = new AnswerWatch()
  /** When each task last began. */
  readonly #begunAtMs: Record<Timed, number>
  readonly #running = new Set<Task>()

  constructor(context: UpkeepContext) {
    this.#context = context
    this.#audit = new Audit(context.state)
    const nowMs = context.clock.monotonicMs()
    this.#begunAtMs = { quiet: nowMs, tokens: nowMs, pools: nowMs }
  }

  /** After a committed block: starts all due tasks and resolves when they are done. */
  async tend(
    blocks: readonly Pick<VerifiedBlock, 'logs' | 'proof'>[],
    { isReorg = false }: { readonly isReorg?: boolean } = {},
  ): Promise<void> {
    const { clock, intervals = AUDIT_INTERVALS } = this.#context
    const nowMs = clock.monotonicMs()
    this.#answers.note(blocks, isReorg)
    this.#audit.note(blocks)
    const isDue = (task: Timed, everyMs: number) => nowMs - this.#begunAtMs[task] >= everyMs
    await Promise.all([
      this.#answers.isDue(nowMs) && this.#once('stables', () => this.readStables()),
      isDue('quiet', QUIET_INTERVAL_MS) && this.#once('quiet', () => this.#recheckQuiet()),
      (this.#audit.isInDoubt || isDue('tokens', intervals.tokensMs)) &&
        this.#once('tokens', () => this.#auditTokens()),
      isDue('pools', intervals.poolsMs) && this.#once('pools', () => this.#auditPools()),
    ])
  }

  /** Call inside the lane, for each block once it is applied: the feed answers in its logs. */
  answersOf(block: Pick<VerifiedBlock, 'logs' | 'proof'>): FeedAnswers {
    const { stables } = this.#context.state
    return this.#answers.take(block, token => stables.get(token)?.reading?.decimals ?? null)
  }

  async readStables(): Promise<void> {
    const { apply, clock, intake, log, market, now, signal, state } = this.#context
    const nowMs = clock.monotonicMs()
    this.#answers.begin(nowMs)
    try {
      await intake.take(
        this.#context,
        async block => {
          const [reading, sources] = await Promise.all([
            market.readStables(block, signal),
            this.#answers.areSourcesDue(nowMs) ? market.readAnswerSources(block, signal) : null,
          ])
          if (sources !== null) this.#answers.setSources(sources, nowMs)
          return reading
        },
        (reading, block) => apply({ kind: 'stable', block, ...reading, atMs: now() }),
      )
    } catch (failure) {
      // A failed commit or a broken invariant ends the host; a failed read from the chain is retried.
      if (!isFeedError(failure)) throw failure
      this.#answers.failed()
      log.warn('stable answers could not be read', { chain_id: state.setup.chainId, error: failure.message })
    }
  }

  /** One run of each task at a time, so that later readings are handed in later. */
  async #once(task: Task, work: () => Promise<void>): Promise<void> {
    if (this.#running.has(task)) return
    this.#running.add(task)
    if (task !== 'stables') this.#begunAtMs[task] = this.#context.clock.monotonicMs()
    try {
      await work()
    } catch (failure) {
      if (!isFeedError(failure)) throw failure
    } finally {
      this.#running.delete(task)
    }
  }

  async #recheckQuiet(): Promise<void> {
    const { intake, now, state } = this.#context
    await intake.recheck(quietPools(state, now()), this.#context)
  }

  /** Changed decimals withdraw the price until a second reading confirms them (R-decimals-3). */
  async #auditTokens(): Promise<void> {
    const { log, signal, state } = this.#context
    await inHalves(
      this.#audit.tokens(),
      some => this.#auditSome(some),
      (token, { message: reason }) => {
        this.#audit.postpone(token)
        log.warn('a token could not be read again', {
          chain_id: state.setup.chainId,
          token_address: token,
          reason,
        })
      },
      signal,
    )
  }

  async #auditSome(tokens: readonly Address[]): Promise<void> {
    const { apply, intake, log, market, now, signal, state } = this.#context
    await intake.take(
      this.#context,
      block => readFacts(market, tokens, block, signal),
      async (read, block) => {
        const facts = read.filter(each => this.#audit.differs(each))
        if (facts.length > 0) {
          log.warn('token metadata differs from the last reading', {
            chain_id: state.setup.chainId,
            tokens: facts.map(({ token, decimals, reason }) => ({ token, decimals, reason })),
          })
          await apply({ kind: 'token_facts', block, facts, atMs: now() })
        }
        this.#audit.settle(read)
      },
    )
  }

  /** A pool that drifted becomes unverified at once, and its whole state is read again. */
  async #auditPools(): Promise<void> {
    const { intake, market, signal } = this.#context
    const audited = this.#audit.pools()
    const pools = audited.map(bornAs)
    const known = new Map<Address, KnownTicks>(audited.flatMap(knownTicksOf))
    const unwatch = intake.watch(pools)
    try {
      await intake.take(
        this.#context,
        async block => (await market.load(pools, block, signal, known)).loaded,
        (loaded, block) => this.#compare(intake.atTip(loaded, block).filter(each => each !== null)),
      )
    } finally {
      unwatch()
    }
  }

  /** Call inside the lane, with pools brought forward to the tip. */
  async #compare(loaded: Parameters<Intake['atTip']>[0]): Promise<void> {
    const { apply, intake, log, now, state } = this.#context
    const drifted = loaded.filter(each => {
      const pool = state.pools.get(each.pool.address)
      return pool !== undefined && driftedTicks(pool, each) > 0
    })
    const rechecked = loaded.map(({ pool, state: seen }) => ({ address: pool.address, state: seen }))
    if (rechecked.length > 0)
      await apply({ kind: 'recheck', block: intake.tip(), pools: rechecked, atMs: now() })
    const unlike = loaded.filter(({ pool }) => state.pools.get(pool.address)?.state.verified === false)
    for (const { pool } of new Set([...drifted, ...unlike]))
      log.warn('a pool drifted from the chain and is read again', { pool_address: pool.address })
    if (drifted.length > 0) await apply({ kind: 'load', block: intake.tip(), pools: drifted, atMs: now() })
  }
}
