/**
 * Decides which tokens are probed, and when: first tokens never probed; then those whose behaviour contradicts the last
 * finding (a swap's Transfer logs, buys without a sale, a sale of an unsellable token, an upgrade); then requested or
 * streamed tokens, hourly.
 *
 * Probes run beside the lane and are handed in between blocks, a few at a time, so that the load on the endpoints stays
 * bounded even with thousands of tokens.
 */
import {
  count,
  type Input,
  type Pool,
  type PoolEvent,
  poolsOf,
  roleOf,
  type SellabilityReading,
  type State,
} from '@assay/engine'
import { hookClassOf } from '@assay/engine/rules'
import { type Judgement, probe, unknownFor } from '@assay/sdk/probe'
import type { LogEntry } from '../../feed/answers/entry.ts'
import { type FeedError, isFeedError } from '../../feed/feedError.ts'
import { isRefusal, type Simulator } from '../../feed/endpoints/simulator.ts'
import type { SeenTaxes } from '../../market/seenTax.ts'
import { movedOutside, type TaxedSide, taxesIn } from '../../market/transferLogs.ts'
import type { Clock } from '../../ops/clock.ts'
import type { ChainConfig } from '../../config/config.ts'
import type { Address } from '../../ops/hex.ts'
import type { Log } from '../../ops/log.ts'
import type { OperatorStore } from '../../store/operator.ts'
import { UPGRADES } from './audit.ts'
import { inHalves } from './inHalves.ts'
import type { Intake, Means } from './intake.ts'
import { type Probing, probingOf } from './probePlan.ts'

export type SellWatchContext = Means & {
  readonly state: State
  readonly chain: Pick<ChainConfig, 'chainId' | 'wrappedNative' | 'blockTimeMs'>
  readonly simulator: Simulator
  readonly intake: Intake
  /** Call only inside the lane. */
  readonly apply: (input: Input) => Promise<unknown>
  readonly now: () => Input['atMs']
  readonly clock: Clock
  readonly log: Log
  /** Lists tokens enrolled on demand that have not been requested since. All others stay of interest. */
  readonly store: Pick<OperatorStore, 'readIdle'>
}

type BlockRef = Extract<Input, { kind: 'sellability' }>['block']
type Block = { readonly logs: readonly LogEntry[]; readonly events: readonly PoolEvent[] }

/** Tokens probed together in one round. */
const TOGETHER = 4
/** Pools of one token whose balances are read. */
const POOLS = 8
/** Pause between rounds: with a call or two per token, at most a few calls a second. */
const PAUSE_MS = 2000
/** A finding is renewed after this long, while the token is being requested. */
const RENEW_MS = 3_600_000
/** Unrequested for this long: the hour, plus the delay until a request is recorded. */
const IDLE_MS = RENEW_MS + 600_000
/** Interval between reads of which tokens were requested. */
const LOOK_MS = 60_000
/** A suspicious token is not probed again sooner than this: every block may contain such a swap. */
const LEAST_MS = 60_000
/** Delay after a node that does not answer, or a pool that cannot be reached yet. */
const RETRY_MS = 30_000
/** Logs must show a tax that differs from the finding by more than this. */
const TOLERANCE_BPS = 10
/** Transfers outside swaps matter from one part in this many of a balance. */
const OUTSIDE_PARTS = 200n
/** Consecutive buys without a sale that look suspicious. */
const BUYS = 50

type Seen = { readonly buyBps: number | null; readonly sellBps: number | null; readonly pool: Address }

export class SellWatch {
  readonly #context: SellWatchContext
  /** When each token was last probed, successfully or not. */
  readonly #triedAtMs = new Map<Address, number>()
  readonly #failed = new Set<Address>()
  readonly #doubted = new Set<Address>()
  /** Buys since the last observed sale. */
  readonly #buys = new Map<Address, number>()
  /** The latest finding from Transfer logs, used when no endpoint can simulate calls. */
  readonly #seen = new Map<Address, Seen>()
  /** By pool, the amount of each token moved outside the pool's events since the limit was last exceeded. */
  readonly #outside = new Map<Address, readonly bigint[]>()
  #idle: ReadonlySet<string> = new Set()
  #lookedAtMs = Number.NEGATIVE_INFINITY
  #begunAtMs = Number.NEGATIVE_INFINITY
  #isRunning = false

  constructor(context: SellWatchContext) {
    this.#context = context
  }

  /** Examines a block's logs for tokens that were probed. Its events are those of followed pools. */
  note({ logs, events }: Block): void {
    const { state } = this.#context
    for (const log of logs)
      if (UPGRADES.has(log.topic ?? '') && state.tokens.has(log.address)) this.#doubted.add(log.address)
    for (const seen of taxesIn(logs, events, address => this.#sideOf(address))) this.#compare(seen)
    const knows = (address: Address, token: Address) => {
      const pool = state.pools.get(address)
      return pool !== undefined && (pool.token0 === token || pool.token1 === token)
    }
    for (const [address, sums] of movedOutside(logs, events, knows)) this.#moved(address, sums)
  }

  /** After a committed block: starts due probes and resolves when their findings are handed in. */
  async tend(): Promise<void> {
    const nowMs = this.#context.clock.monotonicMs()
    if (this.#isRunning || nowMs - this.#begunAtMs < PAUSE_MS) return
    this.#isRunning = true
    try {
      await this.#look(nowMs)
      const tokens = this.#due(nowMs)
      if (tokens.length > 0) await this.#go(tokens, nowMs)
    } finally {
      this.#isRunning = false
    }
  }

  async #go(tokens: readonly Address[], nowMs: number): Promise<void> {
    this.#begunAtMs = nowMs
    try {
      await inHalves(
        tokens,
        some => this.#probe(some),
        (token, failure) => this.#retry([token], failure),
        this.#context.signal,
      )
    } catch (failure) {
      // A failed commit or a broken invariant ends the host; a failed read from the chain is retried.
      if (!isFeedError(failure)) throw failure
      this.#retry(tokens, failure)
    } finally {
      for (const token of tokens) this.#triedAtMs.set(token, this.#context.clock.monotonicMs())
    }
  }

  #retry(tokens: readonly Address[], { message }: FeedError): void {
    for (const token of tokens) this.#failed.add(token)
    const { chain, log } = this.#context
    log.warn('tokens could not be probed', { chain_id: chain.chainId, tokens, error: message })
  }

  async #look(nowMs: number): Promise<void> {
    if (nowMs - this.#lookedAtMs < LOOK_MS) return
    this.#lookedAtMs = nowMs
    const { chain, clock, store } = this.#context
    this.#idle = new Set(await store.readIdle(chain.chainId, clock.nowMs() - IDLE_MS))
  }

  /** Past half a percent of the pool's balance, its balances are read again. */
  #moved(address: Address, sums: ReadonlyMap<Address, bigint>): void {
    const pool = this.#context.state.pools.get(address)
    const holdings = pool?.state.backing?.holdings
    if (pool === undefined || holdings === undefined || !this.#isProbed(pool.from)) return
    const before = this.#outside.get(address) ?? [0n, 0n]
    const now = [pool.token0, pool.token1].map((token, at) => (before[at] ?? 0n) + (sums.get(token) ?? 0n))
    this.#outside.set(address, now)
    if (holdings.some(({ balance }, at) => (now[at] ?? 0n) * OUTSIDE_PARTS > balance)) {
      this.#doubted.add(pool.from)
      this.#outside.delete(address)
    }
  }

  /** Null for a token that is not probed, and for a pool whose hook may exchange amounts of its own. */
  #sideOf(address: Address): TaxedSide | null {
    const pool = this.#context.state.pools.get(address)
    if (pool === undefined || !this.#isProbed(pool.from)) return null
    const { terms, from, x } = pool
    if (!('manager' in terms)) return { token: from, side: x, manager: null }
    const isOwnCurve = hookClassOf(terms.hooks, terms.keyFee) !== 'UNSUPPORTED'
    return isOwnCurve ? { token: from, side: x, manager: terms.manager } : null
  }

  #isProbed(token: Address): boolean {
    const { state } = this.#context
    return (state.tokens.get(token)?.enrolledAtMs ?? null) !== null && roleOf(state.setup, token) === 'TOKEN'
  }

  #compare({ token, pool, kind, taxBps }: SeenTaxes): void {
    const { state } = this.#context
    const before = this.#seen.get(token)
    const known = state.tokens.get(token)?.sellability
    const seen = { buyBps: before?.buyBps ?? null, sellBps: before?.sellBps ?? null, pool }
    this.#seen.set(token, { ...seen, ...(kind === 'BUY' ? { buyBps: taxBps } : { sellBps: taxBps }) })
    if (kind === 'SALE') this.#buys.delete(token)
    else {
      const buys = (this.#buys.get(token) ?? 0) + 1
      this.#buys.set(token, buys % BUYS)
      if (buys >= BUYS) this.#doubted.add(token)
    }
    if (known === undefined) return
    const expected = kind === 'BUY' ? known.buyTaxBps : known.sellTaxBps
    const isOther = expected !== null && Math.abs(expected - taxBps) > TOLERANCE_BPS
    if (isOther || (kind === 'SALE' && known.status === 'UNSELLABLE')) this.#doubted.add(token)
  }

  /** Never probed first, then suspicious, then oldest. */
  #due(nowMs: number): readonly Address[] {
    const { state, now } = this.#context
    const atMs = now()
    const due: { readonly token: Address; readonly rank: number; readonly ageMs: number }[] = []
    for (const { address, sellability, enrolledAtMs, published } of state.tokens.values()) {
      if (enrolledAtMs === null || published === null || roleOf(state.setup, address) !== 'TOKEN') continue
      const sinceMs = nowMs - (this.#triedAtMs.get(address) ?? Number.NEGATIVE_INFINITY)
      if (sinceMs < (this.#failed.has(address) ? RETRY_MS : 0)) continue
      const ageMs = sellability === undefined ? Number.POSITIVE_INFINITY : atMs - sellability.checkedAtMs
      const isOdd = this.#doubted.has(address) && sinceMs >= LEAST_MS
      const isNew = sellability === undefined && (sinceMs >= RETRY_MS || !this.#triedAtMs.has(address))
      const isOld = sellability !== undefined && ageMs >= RENEW_MS && !this.#idle.has(address)
      if (isNew || isOdd || isOld) due.push({ token: address, rank: isNew ? 0 : isOdd ? 1 : 2, ageMs })
    }
    due.sort((a, b) => a.rank - b.rank || b.ageMs - a.ageMs || (a.token < b.token ? -1 : 1))
    return due.slice(0, TOGETHER).map(({ token }) => token)
  }

  async #probe(tokens: readonly Address[]): Promise<void> {
    const { apply, intake, market, now, log, chain, signal } = this.#context
    await intake.take(
      this.#context,
      async block => {
        const gasPriceWei = await this.#gasPrice()
        const [found, balances] = await Promise.all([
          Promise.all(tokens.map(token => this.#readingOf(token, block, gasPriceWei))),
          market.balances(
            tokens.flatMap(token => this.#heldOf(token)),
            block,
            signal,
          ),
        ])
        return { readings: found.filter(each => each !== null), balances }
      },
      async ({ readings, balances }, block) => {
        if (readings.length > 0 || balances.length > 0)
          await apply({ kind: 'sellability', block, readings, balances, atMs: now() })
        for (const { token, status, reason } of readings) {
          this.#doubted.delete(token)
          this.#failed.delete(token)
          if (status === 'UNSELLABLE')
            log.warn('a token cannot be sold', { chain_id: chain.chainId, token_address: token, reason })
        }
      },
    )
  }

  /**
   * The deepest pools of the token itself. Pools of one manager share its balances, which say nothing about a single
   * pool.
   */
  #heldOf(token: Address): readonly Pool[] {
    const pools = poolsOf(this.#context.state, token).filter(
      ({ state, terms }) => state.evidence !== null && !('manager' in terms),
    )
    const depthOf = ({ state }: Pool) => state.depthY ?? 0n
    return pools.toSorted((a, b) => (depthOf(b) > depthOf(a) ? 1 : -1)).slice(0, POOLS)
  }

  async #readingOf(
    token: Address,
    block: BlockRef,
    gasPriceWei: bigint | null,
  ): Promise<SellabilityReading | null> {
    const { state, chain } = this.#context
    const probing = probingOf(state, chain, token)
    if (probing === null) return null
    if (probing === 'NO_PATH') return reading(token, null, unknownFor('NO_PATH'))
    const judged = await this.#judged(probing, block, gasPriceWei)
    return reading(token, probing, judged.method === null ? this.#orLogged(token, judged) : judged)
  }

  #judged(probing: Probing, block: BlockRef, gasPriceWei: bigint | null): Promise<Judgement> {
    const { chain, simulator, signal } = this.#context
    const request = {
      plan: { wrapped: chain.wrappedNative, hops: probing.hops },
      sizes: probing.sizes,
      block,
      blockTimeMs: chain.blockTimeMs,
      ...(gasPriceWei === null ? {} : { gasPriceWei }),
    }
    return probe(request, (method, params) => simulator.ask(method, params, signal), isRefusal)
  }

  /** When no endpoint can simulate calls, falls back to what other users' swaps showed. */
  #orLogged(token: Address, judged: Judgement): Judgement {
    const seen = this.#seen.get(token)
    if (judged.reason !== 'NO_OVERRIDES' || seen === undefined || seen.sellBps === null) return judged
    const { buyBps, sellBps } = seen
    const isTaxed = sellBps > 0 || (buyBps ?? 0) > 0
    return {
      status: isTaxed ? 'TAXED' : 'SELLABLE',
      buyTaxBps: buyBps,
      transferTaxBps: null,
      sellTaxBps: sellBps,
      reason: null,
      method: 'TRANSFER_LOGS',
      revert: null,
    }
  }

  /**
   * Twice the current gas price, because the block of the probe may require more. Null when the node does not report
   * it.
   */
  async #gasPrice(): Promise<bigint | null> {
    const { simulator, signal } = this.#context
    try {
      const answer = await simulator.ask('eth_gasPrice', [], signal)
      return typeof answer === 'string' && /^0x[0-9a-f]{1,32}$/i.test(answer) ? 2n * BigInt(answer) : null
    } catch (failure) {
      if (isRefusal(failure)) return null
      throw failure
    }
  }
}

function reading(token: Address, probing: Probing | null, judged: Judgement): SellabilityReading {
  const bps = (tax: number | null) => (tax === null ? null : count(tax))
  return {
    token,
    status: judged.status,
    buyTaxBps: bps(judged.buyTaxBps),
    transferTaxBps: bps(judged.transferTaxBps),
    sellTaxBps: bps(judged.sellTaxBps),
    reason: judged.reason,
    pool: probing?.pool.address ?? null,
    method: judged.method,
    path: probing?.path ?? [],
    sizes: probing?.sizes ?? [],
    revert: judged.revert,
  }
}
