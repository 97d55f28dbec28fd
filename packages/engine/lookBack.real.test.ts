/** The law of the look-back on pools of the real chain, where their events are at hand: whole lives, cut again and again. */
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Address, Block, Hex, PoolEvent } from './chain/block.ts'
import { tickAtSqrtRatio } from './amm/tickMath.ts'
import { createState } from './createState.ts'
import { step } from './engine.ts'
import type { PoolState } from './entities.ts'
import type { LoadedPool } from './input.ts'
import { LookBack } from './lookBack.ts'
import { changesOf } from './memory/temporalTape.ts'
import type { State } from './state.ts'
import { count, ms, tick } from './units.ts'

const FOLDER = new URL('../../../shared/realdata/', import.meta.url)
const FILES = ['v3_history_ens_weth_3000.json', 'v3_history_usdc_weth_500.json']
const BLOCK_MS = 13_000
/** Blocks between two cuts. */
const EVERY = 9
const START_MS = 1_620_000_000_000

type Row = readonly (string | number | null)[]
type Life = Readonly<Record<'pool' | 'token0' | 'token1' | 'initialSqrtPriceX96', string>> &
  Readonly<Record<'fee' | 'tickSpacing' | 'initializeBlock', number>> & { readonly events: readonly Row[] }

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const big = (value: unknown): bigint => BigInt(value as string | number)

function eventOf(row: Row): PoolEvent['event'] {
  const [kind, , , , ...rest] = row
  if (kind === 'Swap') {
    const [amount0, amount1, root, liquidity] = rest
    const sqrtPriceX96 = big(root)
    const at = typeof rest[4] === 'number' ? tick(rest[4]) : tickAtSqrtRatio(sqrtPriceX96)
    return {
      kind: 'SWAP',
      amount0: big(amount0),
      amount1: big(amount1),
      sqrtPriceX96,
      liquidity: big(liquidity),
      tick: at,
    }
  }
  const [lower, upper, liquidity, amount0, amount1] = rest
  return {
    kind: kind === 'Mint' ? 'MINT' : 'BURN',
    tickLower: tick(lower as number),
    tickUpper: tick(upper as number),
    liquidity: big(liquidity),
    amount0: big(amount0),
    amount1: big(amount1),
  }
}

/** Blocks with events alone, made to follow one another, as numbers in between say nothing here. */
function blocksOf(life: Life): Block[] {
  const pool = life.pool.toLowerCase() as Address
  const root = big(life.initialSqrtPriceX96)
  const first: PoolEvent['event'] = { kind: 'INITIALIZE', sqrtPriceX96: root, tick: tickAtSqrtRatio(root) }
  const rows: [number, PoolEvent['event']][] = [[life.initializeBlock, first]]
  for (const row of life.events) rows.push([row[1] as number, eventOf(row)])
  const numbers = [...new Set(rows.map(([number]) => number))]
  return numbers.map((real, at) => ({
    number: count(at + 2),
    hash: hashOf(at + 2),
    parentHash: hashOf(at + 1),
    timeMs: ms(START_MS + (real - life.initializeBlock) * BLOCK_MS),
    proof: 'receipts',
    events: rows
      .filter(([number]) => number === real)
      .map(([, event], logIndex) => ({
        pool,
        family: 'amm_v3',
        event,
        transactionHash: hashOf(real),
        logIndex: count(logIndex),
      })) as PoolEvent[],
  }))
}

function bornOf(life: Life): LoadedPool['pool'] {
  return {
    address: life.pool.toLowerCase() as Address,
    deploymentId: 'uniswap-v3',
    token0: life.token0.toLowerCase() as Address,
    token1: life.token1.toLowerCase() as Address,
    fee: { family: 'amm_v3', feePpm: BigInt(life.fee), tickSpacing: tick(life.tickSpacing) },
  }
}

const newState = (life: Life): State =>
  createState({
    chainId: count(1),
    blockTimeMs: ms(BLOCK_MS),
    stables: [],
    routingAssets: [life.token0.toLowerCase() as Address],
    hasSequencer: false,
  })

const say = (state: State, block: Block) => step(state, { kind: 'block', atMs: block.timeMs, block })

/** The pool as it is in a state, as a worker reads it. */
function readFrom(state: State, pool: LoadedPool['pool']): LoadedPool {
  const known = state.pools.get(pool.address)
  if (known?.terms.family !== 'amm_v3') throw new Error('the pool is not there')
  const { lowest, highest } = known.terms.book
  const ticks = { range: { lowest, highest }, entries: known.terms.book.entries() }
  const none = { createdBlock: null, createdMs: null, lastTradeMs: null }
  return { pool, ...none, state: known.state.amm, ticks }
}

const image = ({ past: _past, history, ...state }: PoolState) => ({ ...state, history: changesOf(history) })

it('R-history-1: equals a service that began following, on real lives split at many points', () => {
  for (const file of FILES.map(name => new URL(name, FOLDER)).filter(each => existsSync(each))) {
    const life = JSON.parse(readFileSync(file, 'utf8')) as Life
    const pool = bornOf(life)
    const blocks = blocksOf(life)
    const creation = {
      pool: pool.address,
      family: 'amm_v3',
      event: { kind: 'CREATED', pool },
      transactionHash: hashOf(1),
      logIndex: count(0),
    } as PoolEvent
    const whole = newState(life)
    say(whole, {
      number: count(1),
      hash: hashOf(1),
      parentHash: hashOf(0),
      timeMs: ms(START_MS - 1),
      proof: 'receipts',
      events: [creation],
    })
    const reads = blocks.map(block => {
      say(whole, block)
      return readFrom(whole, pool)
    })
    expect(whole.pools.get(pool.address)?.state.verified).toBe(true)
    const end = blocks.at(-1) as Block
    const loaded = reads.at(-1) as LoadedPool
    for (const [at, start] of blocks.entries()) {
      if (at % EVERY !== 0) continue
      const read = reads[at] as LoadedPool
      const live = newState(life)
      say(live, { ...start, events: [] })
      step(live, { kind: 'load', atMs: start.timeMs, block: start, pools: [read] })
      for (const block of blocks.slice(at + 1)) say(live, block)
      step(live, { kind: 'load', atMs: end.timeMs, block: end, pools: [loaded] })
      const logs = { fromBlock: start.number, toBlock: end.number, count: count(0), digest: '' }
      const window = {
        start,
        end,
        blocks: blocks.slice(at + 1),
        isProven: true,
        times: 'EXACT',
        logs,
      } as const
      const lookBack = new LookBack(newState(life), window, [{ loaded, read: read.state, older: [] }])
      for (const _ of lookBack.fold());
      const [back] = lookBack.result()
      expect(back && image(back.state)).toEqual(image(live.pools.get(pool.address)!.state))
    }
  }
})
