/**
 * A chain in memory for tests: pools that trade by the adapters' own rules and the blocks they give. Every
 * branch can be forked, so a test can orphan what it likes and still know what a true chain would hold.
 *
 * Hashes name the branch and height, so equal histories have equal blocks.
 */
import type { Swapped } from '../amm/adapter.ts'
import { adapterOf, type AmmState, type PoolTerms } from '../amm/families.ts'
import type { Family } from '../amm/familyNames.ts'
import type { Side } from '../amm/states.ts'
import type { LoadedTicks } from '../amm/tickBook.ts'
import * as tickBook from '../amm/tickBook.ts'
import { sqrtRatioAtTick } from '../amm/tickMath.ts'
import { assert } from '../assert.ts'
import type { Address, Block, Hex, NewPool, PoolEvent, Proof } from '../chain/block.ts'
import type { LoadedPool } from '../input.ts'
import { count, type Ms, ms, tick } from '../units.ts'
import { makingOf, type TickFamily } from './tickFamilies.ts'

export const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
/** Of a pool that another contract holds. */
export const poolId = (n: number): Address => `0x${n.toString(16).padStart(64, 'e')}`
const hash = (text: string): Hex => `0x${Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64)}`

type SimPool = { readonly born: NewPool; terms: PoolTerms; amm: AmmState }
type Draft = {
  readonly pool: Address
  readonly family: Family
  readonly event: PoolEvent['event']
}

export class ChainSim {
  readonly blockMs: number
  #pools = new Map<Address, SimPool>()
  #pending: Draft[] = []
  #number: number
  #timeMs: number
  #hash: Hex
  #branch: string

  constructor(options: { startMs: number; blockMs?: number; number?: number }) {
    this.blockMs = options.blockMs ?? 12_000
    this.#number = options.number ?? 100
    this.#timeMs = options.startMs
    this.#hash = hash(`genesis`)
    this.#branch = 'a'
  }

  get timeMs(): Ms {
    return ms(this.#timeMs)
  }

  get tipHash(): Hex {
    return this.#hash
  }

  get number(): number {
    return this.#number
  }

  /** A copy that shares nothing mutable; its blocks from here on have other hashes. */
  fork(branch: string): ChainSim {
    const copy = new ChainSim({ startMs: this.#timeMs, blockMs: this.blockMs, number: this.#number })
    copy.#hash = this.#hash
    copy.#branch = branch
    copy.#pending = [...this.#pending]
    for (const [key, pool] of this.#pools) copy.#pools.set(key, { ...pool, terms: cloneTerms(pool.terms) })
    return copy
  }

  createV2(spec: {
    address: Address
    token0: Address
    token1: Address
    deploymentId?: string
    fee?: readonly [bigint, bigint]
  }): void {
    const [numerator, denominator] = spec.fee ?? [997n, 1000n]
    const born: NewPool = {
      address: spec.address,
      deploymentId: spec.deploymentId ?? 'v2',
      token0: spec.token0,
      token1: spec.token1,
      fee: { family: 'amm_v2', numerator, denominator },
    }
    const terms: PoolTerms = { family: 'amm_v2', fee: { numerator, denominator } }
    this.#pools.set(spec.address, { born, terms, amm: { family: 'amm_v2', reserve0: 0n, reserve1: 0n } })
    this.#pending.push({ pool: spec.address, family: 'amm_v2', event: { kind: 'CREATED', pool: born } })
  }

  /** Of v3, or of another family with ticks. */
  createV3(spec: {
    family?: TickFamily
    address: Address
    token0: Address
    token1: Address
    deploymentId?: string
    feePpm?: bigint
    tickSpacing?: number
    tick: number
  }): void {
    const family = spec.family ?? 'amm_v3'
    const feePpm = spec.feePpm ?? 3000n
    const tickSpacing = tick(spec.tickSpacing ?? 60)
    const born: NewPool = {
      address: spec.address,
      deploymentId: spec.deploymentId ?? 'v3',
      token0: spec.token0,
      token1: spec.token1,
      fee: makingOf(family).born({ feePpm, tickSpacing }),
    }
    const adapter = adapterOf<Family>(family)
    const sqrtPriceX96 = sqrtRatioAtTick(tick(spec.tick))
    this.#pools.set(spec.address, {
      born,
      terms: adapter.terms(born.fee, null),
      amm: adapter.empty(born.fee),
    })
    this.#pending.push({ pool: spec.address, family, event: { kind: 'CREATED', pool: born } })
    this.#apply(spec.address, { kind: 'INITIALIZE', sqrtPriceX96, tick: tick(spec.tick) })
  }

  /** v2: sets the reserves, as a Mint or Burn would. */
  reserves(pool: Address, reserve0: bigint, reserve1: bigint): void {
    const before = this.#pools.get(pool)?.amm
    assert(before?.family === 'amm_v2', `${pool} is not a v2 pool`)
    this.#apply(pool, { kind: 'SYNC', reserve0, reserve1 })
    const [d0, d1] = [reserve0 - before.reserve0, reserve1 - before.reserve1]
    if (d0 >= 0n && d1 >= 0n) this.#apply(pool, { kind: 'MINT', amount0: d0, amount1: d1 })
    else if (d0 <= 0n && d1 <= 0n) this.#apply(pool, { kind: 'BURN', amount0: -d0, amount1: -d1 })
  }

  /** v2: sets the reserves with a Sync alone, as a donation that is counted would. */
  sync(pool: Address, reserve0: bigint, reserve1: bigint): void {
    this.#apply(pool, { kind: 'SYNC', reserve0, reserve1 })
  }

  /** Adds (or with a negative amount removes) liquidity between two ticks. */
  liquidity(pool: Address, lower: number, upper: number, amount: bigint): void {
    const amm = this.#pools.get(pool)?.amm
    assert(amm !== undefined && amm.family !== 'amm_v2', `${pool} is not a pool with ticks`)
    const change = { lower: tick(lower), upper: tick(upper), delta: amount }
    this.#apply(pool, makingOf(amm.family).changed(amm, change))
  }

  /** Algebra: what the fee is from now on. v4: what the protocol takes of either direction. */
  fee(pool: Address, feePpm: number): void {
    const family = this.#pools.get(pool)?.amm.family
    assert(family === 'amm_algebra_v1' || family === 'amm_v4', `the fee of ${pool} does not change`)
    const protocolFee = BigInt(feePpm) | (BigInt(feePpm) << 12n)
    this.#apply(
      pool,
      family === 'amm_v4' ? { kind: 'PROTOCOL_FEE', protocolFee } : { kind: 'FEE', feePpm: count(feePpm) },
    )
  }

  /** Sells `amountIn` of token `side`. */
  swap(pool: Address, side: Side, amountIn: bigint): void {
    const known = this.#pools.get(pool)
    assert(known !== undefined, `${pool} does not exist`)
    const adapter = adapterOf(known.terms.family)
    const swapped = adapter.swapExactIn(known.terms, known.amm, side, amountIn)
    assert(!('reason' in swapped), `the swap of ${amountIn} leaves the known ticks`)
    for (const event of adapter.swapped(side, swapped, swapped.state)) this.#apply(pool, event)
  }

  /** An event no honest pool would emit. */
  forge(pool: Address, event: PoolEvent['event']): void {
    const known = this.#pools.get(pool)
    assert(known !== undefined, `${pool} does not exist`)
    this.#pending.push({ pool, family: known.terms.family, event })
  }

  /** As if it had happened long ago: changes since the last block are not logged in the next one. */
  forget(): void {
    this.#pending = []
  }

  /** The pool as a worker reads it at the tip; with `range`, only these ticks of it. */
  loaded(pool: Address, range?: tickBook.KnownRange): LoadedPool {
    const { born, terms, amm } = this.#pools.get(pool) as SimPool
    return {
      pool: born,
      createdBlock: null,
      createdMs: null,
      state: amm,
      ticks: 'book' in terms ? ticksWithin(terms.book, range ?? terms.book) : null,
      lastTradeMs: null,
    }
  }

  /** What selling `amountIn` of token `side` would bring now; liquidity that ends before takes less. */
  quote(pool: Address, side: Side, amountIn: bigint): Swapped<AmmState> {
    const known = this.#pools.get(pool)
    assert(known !== undefined, `${pool} does not exist`)
    const swapped = adapterOf(known.terms.family).swapExactIn(known.terms, known.amm, side, amountIn)
    assert(!('reason' in swapped), `the swap of ${amountIn} leaves the known ticks`)
    return swapped
  }

  amm(pool: Address): AmmState {
    return (this.#pools.get(pool) as SimPool).amm
  }

  born(pool: Address): NewPool {
    return (this.#pools.get(pool) as SimPool).born
  }

  /** Closes the block with everything that happened since the last one. */
  mine(options: { proof?: Proof; afterMs?: number } = {}): Block {
    const parentHash = this.#hash
    this.#number++
    this.#timeMs += options.afterMs ?? this.blockMs
    this.#hash = hash(`${this.#branch}${this.#number}`)
    const events = this.#pending.map(
      (draft, at): PoolEvent =>
        ({
          ...draft,
          transactionHash: hash(`tx${this.#branch}${this.#number}-${at}`),
          logIndex: count(at),
        }) as PoolEvent,
    )
    this.#pending = []
    return {
      number: count(this.#number),
      hash: this.#hash,
      timeMs: ms(this.#timeMs),
      parentHash,
      proof: options.proof ?? 'receipts',
      events,
    }
  }

  #apply(pool: Address, event: Exclude<PoolEvent['event'], { kind: 'CREATED' }>): void {
    const known = this.#pools.get(pool) as SimPool
    this.#pending.push({ pool, family: known.terms.family, event })
    known.amm = adapterOf(known.terms.family).apply(known.terms, known.amm, known.amm, event).state
  }
}

function ticksWithin(book: tickBook.TickBook, { lowest, highest }: tickBook.KnownRange): LoadedTicks {
  const entries = book.entries().filter(entry => entry.tick >= lowest && entry.tick <= highest)
  return { range: { lowest, highest }, entries }
}

function cloneTerms(terms: PoolTerms): PoolTerms {
  if (!('book' in terms)) return terms
  return { ...terms, book: new tickBook.TickBook(terms.tickSpacing, terms.book, terms.book.entries()) }
}
