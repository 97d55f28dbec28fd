/**
 * PancakeSwap v3 and Algebra v1 against their published contracts, on random states. (Uniswap v3 has a test of its own, with
 * every edge of the curve they share.)
 *
 * A twin is advanced by the pool's events alone. Before each Swap the twin foresees it from what was asked: amounts, price,
 * tick and liquidity must be those of the log, at the fee the pool has told. Then its storage is read, fee included, and the
 * contract is asked for its depth.
 */
import {
  algebraPoolAbi,
  type Anvil,
  type Client,
  connect,
  createAlgebraPool,
  createPancakePool,
  deployAlgebraFactory,
  deployPancakeFactory,
  deployToken,
  deployTrader,
  type DeployerFactory,
  pancakePoolAbi,
  Random,
  seedOfRun,
  send,
  startAnvil,
  trader,
  v3FactoryAbi,
  v3PoolAbi,
} from '@assay/world'
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest'
import { cases } from '../testing/cases.ts'
import { count, type Tick, tick as toTick } from '../units.ts'
import type { AlgebraEvent } from './algebra/kind.ts'
import type { Boundary } from './adapter.ts'
import { type AmmState, adapterOf, type AnyAdapter, type Born, type PoolTerms } from './families.ts'
import * as priceLimit from './priceLimit.ts'
import type { Side, Slot } from './states.ts'
import * as swapLoop from './swapLoop.ts'
import type { TickBook } from './tickBook.ts'
import { MAX_SQRT_RATIO, MIN_SQRT_RATIO, sqrtRatioAtTick } from './tickMath.ts'
import { MAX_TICK, MIN_TICK } from './ticks.ts'

const GAS = 100_000_000_000n
const Q96 = 1n << 96n
const INT256_MAX = (1n << 255n) - 1n
const TWO_PERCENT: Boundary = { up: { num: 102n, den: 100n }, down: { num: 98n, den: 100n } }
const FAR: Boundary = { up: { num: 121n, den: 100n }, down: { num: 81n, den: 100n } }

const SWAPS_PER_ROUND = 24
const FIRST_MINTS = 6
const FAR_TICK = 300_000
const ROUNDS = cases(2)

type Contracts = {
  readonly name: string
  readonly tiers: readonly { readonly feePpm: number; readonly tickSpacing: number }[]
  create(pair: readonly [Address, Address], feePpm: number): Promise<Address>
  /** Takes a share of the fees for whoever runs the pools. */
  charge(pool: Address, feePpm: number): Promise<void>
  born(tier: { readonly feePpm: number; readonly tickSpacing: number }): Born
  mint(pool: Address, lower: number, upper: number, liquidity: bigint): Hex
  events(logs: TransactionReceipt['logs']): AlgebraEvent[]
  state(pool: Address): Promise<AmmState>
}

type Subject = {
  readonly of: Contracts
  readonly pool: Address
  readonly adapter: AnyAdapter
  readonly terms: PoolTerms
  readonly spacing: number
  state: AmmState
  readonly positions: Map<string, { lower: number; upper: number; liquidity: bigint }>
}

const seed = seedOfRun()
const done = { swaps: 0, depths: 0, fees: new Set<bigint>() }
let anvil: Anvil
let client: Client
let hands: Address
let pancakes: DeployerFactory
let algebras: DeployerFactory

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: 10n * GAS })
  client = connect(anvil.url)
  hands = await deployTrader(client)
  pancakes = await deployPancakeFactory(client)
  algebras = await deployAlgebraFactory(client)
})
afterAll(() => anvil.close())

const slotEvents = (logs: TransactionReceipt['logs']) =>
  parseEventLogs({ abi: v3PoolAbi, logs }).flatMap((log): { at: number; event: AlgebraEvent }[] => {
    const at = log.logIndex
    switch (log.eventName) {
      case 'Initialize':
        return [
          {
            at,
            event: {
              kind: 'INITIALIZE',
              sqrtPriceX96: log.args.sqrtPriceX96,
              tick: toTick(log.args.tick),
            },
          },
        ]
      case 'Mint':
      case 'Burn': {
        const { tickLower, tickUpper, amount, amount0, amount1 } = log.args
        const ticks = { tickLower: toTick(tickLower), tickUpper: toTick(tickUpper) }
        const kind = log.eventName === 'Mint' ? 'MINT' : 'BURN'
        return [{ at, event: { kind, ...ticks, liquidity: amount, amount0, amount1 } }]
      }
      case 'Swap': {
        const { amount0, amount1, sqrtPriceX96, liquidity, tick } = log.args
        return [
          { at, event: { kind: 'SWAP', amount0, amount1, sqrtPriceX96, liquidity, tick: toTick(tick) } },
        ]
      }
      case 'Collect':
        return []
    }
  })
const inOrder = (events: { readonly at: number; readonly event: AlgebraEvent }[]): AlgebraEvent[] =>
  events.sort((a, b) => a.at - b.at).map(({ event }) => event)

const FAMILIES: readonly Contracts[] = [
  {
    name: 'amm_v3_pancake',
    tiers: [
      { feePpm: 100, tickSpacing: 1 },
      { feePpm: 500, tickSpacing: 10 },
      { feePpm: 2500, tickSpacing: 50 },
      { feePpm: 10_000, tickSpacing: 200 },
    ],
    create: (pair, feePpm) => createPancakePool(client, pancakes, pair, feePpm),
    // Shares of the fee, of 10,000: no amount of a swap may change by them.
    async charge(pool, feePpm) {
      const from = await client.readContract({
        address: pancakes.factory,
        abi: v3FactoryAbi,
        functionName: 'owner',
      })
      const args = [pool, feePpm === 500 ? 0 : 3200, feePpm === 500 ? 1000 : 4000] as const
      const data = encodeFunctionData({ abi: pancakePoolAbi, functionName: 'setFeeProtocol', args })
      await send(client, { from, to: pancakes.factory, data })
    },
    born: ({ feePpm, tickSpacing }) => ({
      family: 'amm_v3_pancake',
      feePpm: BigInt(feePpm),
      tickSpacing: toTick(tickSpacing),
    }),
    mint: trader.mintV3,
    events: logs =>
      inOrder([
        ...slotEvents(logs),
        ...parseEventLogs({ abi: pancakePoolAbi, logs, eventName: 'Swap' }).map(log => {
          const { amount0, amount1, sqrtPriceX96, liquidity, tick } = log.args
          const slot = { sqrtPriceX96, liquidity, tick: toTick(tick) }
          return { at: log.logIndex, event: { kind: 'SWAP', amount0, amount1, ...slot } as const }
        }),
      ]),
    async state(address) {
      const read = { address, abi: v3PoolAbi } as const
      const slot = await client.readContract({
        address,
        abi: parseAbi([
          'function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint32, bool)',
        ]),
        functionName: 'slot0',
      })
      const liquidity = await client.readContract({ ...read, functionName: 'liquidity' })
      return { family: 'amm_v3_pancake', sqrtPriceX96: slot[0], tick: toTick(slot[1]), liquidity }
    },
  },
  {
    name: 'amm_algebra_v1',
    tiers: [{ feePpm: 100, tickSpacing: 60 }],
    create: pair => createAlgebraPool(client, algebras, pair),
    charge: async () => {},
    born: ({ tickSpacing }) => ({ family: 'amm_algebra_v1', tickSpacing: toTick(tickSpacing) }),
    mint: trader.mintAlgebra,
    events: logs =>
      inOrder([
        ...slotEvents(logs),
        ...parseEventLogs({ abi: algebraPoolAbi, logs, eventName: 'Fee' }).map(log => ({
          at: log.logIndex,
          event: { kind: 'FEE', feePpm: count(log.args.fee) } as const,
        })),
      ]),
    async state(address) {
      const read = { address, abi: algebraPoolAbi } as const
      const global = await client.readContract({ ...read, functionName: 'globalState' })
      const liquidity = await client.readContract({ ...read, functionName: 'liquidity' })
      const [sqrtPriceX96, tick, fee] = global
      done.fees.add(BigInt(fee))
      return {
        family: 'amm_algebra_v1',
        sqrtPriceX96,
        tick: toTick(tick),
        liquidity,
        feePpm: BigInt(fee),
      }
    },
  },
]

const SUBJECTS = FAMILIES.flatMap(of =>
  // A pair has one Algebra pool: as many pairs as others have tiers.
  (of.tiers.length === 1 ? [0, 1, 2, 3].map(() => of.tiers[0]) : of.tiers).map((tier, at) => ({
    of,
    tier: tier as (typeof of.tiers)[number],
    at,
    name: `${of.name} ${at}`,
  })),
)

describe.each(SUBJECTS)('R-ticks-1, R-ticks-2: $name', ({ of, tier, name }) => {
  it('swaps as we foresee, its events tell its state, and its depth is what it takes in', async () => {
    onTestFailed(() => console.error(`repeat with ASSAY_SEED=${seed}`))
    const random = new Random(seed, name)
    const subject = await createSubject(random, of, tier)
    for (let round = 0; round < ROUNDS; round++) {
      const steps: Step[] = []
      if (round === 0) for (let i = 0; i < FIRST_MINTS; i++) steps.push(mintStep(random, subject, i === 0))
      for (let i = 0; i < SWAPS_PER_ROUND; i++) {
        if (random.chance(1, 4)) steps.push(mintStep(random, subject))
        if (random.chance(1, 6)) steps.push(burnStep(random, subject))
        steps.push(swapStep(random, subject))
      }
      await run(subject, steps)
      await compareStorage(subject)
      await compareDepth(subject, TWO_PERCENT)
      await compareDepth(subject, FAR)
      // So that volatility has time to move a fee.
      await client.increaseTime({ seconds: random.integer(1, 40_000) })
    }
  })
})

it('was asked often enough, and saw the fee of Algebra move', () => {
  expect(done.swaps).toBeGreaterThanOrEqual(SUBJECTS.length * ROUNDS * SWAPS_PER_ROUND * 0.6)
  expect(done.depths).toBeGreaterThanOrEqual(SUBJECTS.length * ROUNDS * 2)
  expect(done.fees.size).toBeGreaterThan(3)
  console.log(`${done.swaps} swaps, ${done.depths} depths, ${done.fees.size} fees of Algebra`)
})

type Step = { readonly call: Hex; readonly asked: Asked | null }
type Asked = { readonly side: Side; readonly order: swapLoop.Order; readonly limitX96: bigint | null }

async function createSubject(
  random: Random,
  of: Contracts,
  tier: { readonly feePpm: number; readonly tickSpacing: number },
): Promise<Subject> {
  const pair = [await token(), await token()] as const
  await trader.fund(client, hands, pair)
  const pool = await of.create(pair, tier.feePpm)
  const start = random.magnitude(MIN_SQRT_RATIO * 1000n, MAX_SQRT_RATIO / 1000n)
  const data = encodeFunctionData({ abi: v3PoolAbi, functionName: 'initialize', args: [start] })
  const receipt = await send(client, { to: pool, data })
  await of.charge(pool, tier.feePpm)
  const born = of.born(tier)
  const adapter = adapterOf(born.family)
  const spacing = tier.tickSpacing
  const subject: Subject = {
    of,
    pool,
    adapter,
    terms: adapter.terms(born, null),
    spacing,
    state: adapter.empty(born),
    positions: new Map(),
  }
  for (const event of of.events(receipt.logs)) apply(subject, event)
  return subject
}

/** One transaction; each Swap is foreseen from the state its own events have led to. */
async function run(subject: Subject, steps: readonly Step[]): Promise<void> {
  const outcomes = await trader.batch(
    client,
    hands,
    steps.map(({ call }) => call),
    GAS,
  )
  steps.forEach(({ asked }, at) => {
    const outcome = outcomes[at]
    if (outcome?.ok !== true) {
      // A limit that the price has passed meanwhile. Positions fail at the ends of the range, where they cost too much.
      if (asked !== null) expect(outcome?.ok === false ? outcome.reason : 'nothing').toBe('SPL')
      return
    }
    const own = outcome.logs.filter(log => log.address.toLowerCase() === subject.pool.toLowerCase())
    for (const event of subject.of.events(own)) {
      if (event.kind === 'SWAP' && asked !== null) {
        const { side, order, limitX96 } = asked
        const slot = subject.state as AmmState & Slot
        const limit = limitX96 ?? priceLimit.extremeLimit(slot.sqrtPriceX96, side)
        const foreseen = swapLoop.swap(pricingOf(subject), slot, side, order, limit)
        expect(event, `${order.kind} at step ${at}`).toEqual({ kind: 'SWAP', ...foreseen })
        done.swaps++
      }
      apply(subject, event)
    }
  })
}

function apply(subject: Subject, event: AlgebraEvent): void {
  const { adapter, terms, state } = subject
  const applied = adapter.apply(terms, state, state, event)
  expect({ verdict: applied.verdict, differences: applied.differences }, event.kind).toEqual({
    verdict: 'verified',
    differences: [],
  })
  subject.state = applied.state
}

const pricingOf = ({ adapter, terms, state }: Subject): swapLoop.Pricing => ({
  book: bookOf({ adapter, terms }),
  feePpm: adapter.feeNow?.(state, 0) ?? adapter.feePpm(adapter.born(terms)),
})
const bookOf = ({ adapter, terms }: Pick<Subject, 'adapter' | 'terms'>): TickBook =>
  adapter.book(terms) as TickBook

async function compareStorage(subject: Subject): Promise<void> {
  const { of, pool, positions } = subject
  expect(subject.state).toEqual(await of.state(pool))
  const touched = [...new Set([...positions.values()].flatMap(({ lower, upper }) => [lower, upper]))]
  const ticks = await Promise.all(
    touched.map(tick =>
      client.readContract({ address: pool, abi: v3PoolAbi, functionName: 'ticks', args: [tick] }),
    ),
  )
  const stored = touched
    .map((tick, at) => ({ tick: toTick(tick), gross: ticks[at]?.[0] ?? 0n, net: ticks[at]?.[1] ?? 0n }))
    .filter(({ gross }) => gross > 0n)
    .sort((a, b) => a.tick - b.tick)
  expect(bookOf(subject).entries()).toEqual(stored)
}

/** The contract is given more than it can take and the limit; what it takes must be the depth. */
async function compareDepth(subject: Subject, boundary: Boundary): Promise<void> {
  const { adapter, terms, state, pool } = subject
  const price = (state as AmmState & Slot).sqrtPriceX96
  const depth = adapter.depth(terms, state, 0, boundary)
  if ('reason' in depth) return expect.unreachable('the whole book is known')
  const { below, above } = priceLimit.rootsOf(boundary, 0)
  const limits = [priceLimit.limitBelow(price, below), priceLimit.limitAbove(price, above)] as const
  const expected = [depth.down, depth.up] as const
  const movable = ([0, 1] as const).filter(side => limits[side] !== price)
  const probes = await trader.probe(
    client,
    hands,
    movable.map(side => trader.swapV3(pool, side === 0, INT256_MAX, limits[side])),
    GAS,
  )
  for (const side of [0, 1] as const) {
    const probe = probes[movable.indexOf(side)]
    // At the end of the range there is nowhere to go.
    if (probe === undefined) expect(expected[side]).toBe(0n)
    else if (!probe.ok) expect.unreachable(`the probe failed with ${probe.reason}`)
    else {
      const taken = decodeFunctionResult({ abi: swapResultAbi, data: probe.result })[side]
      expect(taken).toBe(expected[side])
    }
  }
  done.depths++
}
const swapResultAbi = parseAbi(['function swapV3() returns (int256, int256)'])

/** The first lies under everything: no swap runs out of liquidity. */
function mintStep(random: Random, { of, pool, spacing, state, positions }: Subject, isFirst = false): Step {
  const [lowest, highest] = [Math.ceil(MIN_TICK / spacing), Math.floor(MAX_TICK / spacing)]
  const here = Math.floor((state as AmmState & Slot).tick / spacing)
  const ends = isFirst
    ? [lowest, highest]
    : random.pick([
        () => [here - random.integer(0, 300), here + random.integer(1, 300)],
        () => [here - random.integer(0, 3), here + random.integer(1, 3)],
        () => [here + random.integer(-600, 600), here + random.integer(-600, 600)],
        () => [lowest, highest],
      ])()
  const [a = 0, b = 0] = ends.map(end => Math.min(Math.max(end, lowest), highest))
  const low = Math.min(a, b, highest - 1)
  const [lower, upper] = [low * spacing, Math.max(a, b, low + 1) * spacing]
  const liquidity = isFirst ? 1n << 80n : random.magnitude(1n << 20n, 1n << 90n)
  const key = `${lower} ${upper}`
  const before = positions.get(key)?.liquidity ?? 0n
  positions.set(key, { lower, upper, liquidity: before + liquidity })
  return { call: of.mint(pool, lower, upper, liquidity), asked: null }
}

function burnStep(random: Random, subject: Subject): Step {
  const { pool, positions } = subject
  const held = [...positions.entries()].slice(1).filter(([, { liquidity }]) => liquidity > 0n)
  // Mints may all have gone into the first position, which stays.
  if (held.length === 0) return mintStep(random, subject)
  const [key, position] = random.pick(held)
  const burnt = random.bigint(1n, position.liquidity)
  positions.set(key, { ...position, liquidity: position.liquidity - burnt })
  return { call: trader.burnV3(pool, position.lower, position.upper, burnt), asked: null }
}

function swapStep(random: Random, { pool, state, spacing }: Subject): Step {
  const slot = state as AmmState & Slot
  const drawn = random.pick([0, 1] as const)
  // Back from the ends of the range, where hardly anything trades.
  const side = slot.tick > FAR_TICK ? 0 : slot.tick < -FAR_TICK ? 1 : drawn
  const liquidity = slot.liquidity > 0n ? slot.liquidity : 1n << 60n
  const reserve =
    (side === 0 ? (liquidity * Q96) / slot.sqrtPriceX96 : (liquidity * slot.sqrtPriceX96) / Q96) + 1n
  const amount = random.magnitude(1n, reserve + 1n)
  const kind = random.pick(['EXACT_IN', 'EXACT_IN', 'EXACT_OUT', 'TO_LIMIT'] as const)
  const away: Tick = toTick(slot.tick + (side === 0 ? -1 : 1) * random.integer(1, 20 * spacing + 400))
  const limitX96 =
    kind === 'TO_LIMIT' || random.chance(1, 4)
      ? sqrtRatioAtTick(toTick(Math.min(Math.max(away, MIN_TICK + 1), MAX_TICK - 1)))
      : null
  const order: swapLoop.Order = kind === 'TO_LIMIT' ? swapLoop.TO_LIMIT : { kind, amount }
  const specified = kind === 'TO_LIMIT' ? INT256_MAX : kind === 'EXACT_IN' ? amount : -amount
  return {
    call: trader.swapV3(pool, side === 0, specified, limitX96 ?? 0n),
    asked: { side, order, limitX96 },
  }
}

const token = (): Promise<Address> => deployToken(client, { symbol: 'T', decimals: 18 })
