/**
 * Markets on the published contracts, and the same ones on a scenario: every pool is filled and traded in both, so a plan made
 * on the one can be carried out on the other. Each market begins from the same empty pools.
 */
import {
  type Anvil,
  type Client,
  connect,
  createV2Pair,
  deployTickFamilies,
  deployToken,
  deployTrader,
  deployV2Factory,
  type Random,
  startAnvil,
  type TickPool,
  trader,
} from '@assay/world'
import { getAddress, type Hex, parseAbi } from 'viem'
import { sqrtRatioAtTick } from '../amm/tickMath.ts'
import type { Address } from '../chain/block.ts'
import { tick as toTick } from '../units.ts'
import { type Scenario, scenario } from './scenario.ts'

const GAS = 30_000_000n
const V2_FEE = { numerator: 997n, denominator: 1000n }
const BALANCE = parseAbi(['function balanceOf(address) view returns (uint256)'])

type Coin = { readonly address: Address; readonly decimals: number; readonly usd: number }
type Slot = {
  readonly address: Address
  readonly x: Coin
  readonly y: Coin
  readonly deployment: string
  /** Of a pool with ticks. */
  readonly ticks: { readonly pool: TickPool; readonly tick: number } | null
}

/**
 * Not those of Algebra: the fee of its next swap follows from the time it is made at, and a plan is made at the last one.
 */
const isSteady = ({ family }: { readonly family: string }): boolean => family !== 'amm_algebra_v1'

export type ContractMarket = { readonly s: Scenario; readonly token: Address }

export type Carried = { readonly pool: Address; readonly from: Address; readonly amountIn: bigint }

export class ContractMarkets {
  readonly #anvil: Anvil
  readonly #client: Client
  readonly #hands: Hex
  readonly #coins: readonly [Coin, Coin, Coin]
  readonly #slots: readonly Slot[]
  #empty: Hex

  private constructor(
    anvil: Anvil,
    client: Client,
    hands: Hex,
    coins: readonly [Coin, Coin, Coin],
    slots: readonly Slot[],
    empty: Hex,
  ) {
    this.#anvil = anvil
    this.#client = client
    this.#hands = hands
    this.#coins = coins
    this.#slots = slots
    this.#empty = empty
  }

  static async start(): Promise<ContractMarkets> {
    const anvil = await startAnvil({ chainId: 1, gasLimit: 2n * GAS })
    const client = connect(anvil.url)
    const hands = await deployTrader(client)
    const coin = async (symbol: string, decimals: number, usd: number): Promise<Coin> => {
      const address = await deployToken(client, { symbol, decimals })
      return { address: lower(address), decimals, usd }
    }
    const t = await coin('T', 9, 1.5)
    const usdc = await coin('USD', 18, 1)
    const weth = await coin('WETH', 18, 2000)
    await trader.fund(
      client,
      hands,
      [t, usdc, weth].map(({ address }) => address),
    )
    const slots: Slot[] = []
    for (const deployment of ['a', 'b']) {
      const factory = await deployV2Factory(client, 'anywhere')
      for (const [x, y] of [
        [t, usdc],
        [t, weth],
        [weth, usdc],
      ] as const) {
        const { address } = await createV2Pair(client, factory, pairOf(x, y))
        slots.push({ address: lower(address), x, y, deployment, ticks: null })
      }
    }
    for (const of of (await deployTickFamilies(client)).filter(isSteady))
      for (const [x, y] of [
        [t, usdc],
        [t, weth],
        [weth, usdc],
      ] as const) {
        const tick = tickOf(x, y)
        const pool = await of.create(pairOf(x, y), sqrtRatioAtTick(toTick(tick)))
        slots.push({ address: lower(pool.id), x, y, deployment: of.family, ticks: { pool, tick } })
      }
    return new ContractMarkets(anvil, client, hands, [t, usdc, weth], slots, await client.snapshot())
  }

  close(): Promise<void> {
    return this.#anvil.close()
  }

  /** Some of the pools, each of any depth, and some trades in them. */
  async next(random: Random): Promise<ContractMarket> {
    await this.#client.revert({ id: this.#empty })
    this.#empty = await this.#client.snapshot()
    const [t, usdc, weth] = this.#coins
    const s = scenario({ stables: [usdc.address], routing: [weth.address] })
    const calls: Hex[] = []
    for (const slot of this.#slots) {
      if (random.integer(0, 2) === 0) continue
      const usd = 10 ** (random.integer(3_000, 6_500) / 1000)
      calls.push(
        ...(slot.ticks === null ? fillPair(s, slot, usd) : fillTicks(s, slot, slot.ticks, usd, random)),
      )
      for (let trades = random.integer(0, 2); trades > 0; trades--)
        calls.push(...this.#trade(s, slot, usd / random.integer(20, 400), random))
      s.sim.forget()
      s.load(slot.address)
    }
    await this.#run(calls)
    s.enrol(t.address, t.decimals)
    return { s, token: t.address }
  }

  /** What the swaps, one after the other in one transaction, change of what the trader has. */
  async carryOut(s: Scenario, swaps: readonly Carried[]): Promise<ReadonlyMap<Address, bigint>> {
    const before = await this.#balances()
    await this.#run(swaps.map(({ pool, from, amountIn }) => this.#callOf(s, pool, from, amountIn)))
    const after = await this.#balances()
    return new Map(
      [...after].map(([address, balance]) => [address, balance - (before.get(address) as bigint)]),
    )
  }

  /** A contract refuses a trade in a direction in which the one before it took all liquidity. */
  #trade(s: Scenario, { address, x, y }: Slot, usd: number, random: Random): readonly Hex[] {
    const from = random.integer(0, 1) === 0 ? x : y
    const amount = unitsOf(from, usd)
    const side = s.sim.born(address).token0 === from.address ? 0 : 1
    if (s.sim.quote(address, side, amount).amountIn === 0n) return []
    const call = this.#callOf(s, address, from.address, amount)
    s.sim.swap(address, side, amount)
    return [call]
  }

  #callOf(s: Scenario, address: Address, from: Address, amount: bigint): Hex {
    const isZero = from === s.sim.born(address).token0
    const pool = this.#slots.find(slot => slot.address === address)?.ticks?.pool
    return pool === undefined
      ? trader.swapExactInV2(address, isZero, amount, V2_FEE)
      : pool.swap(isZero, amount)
  }

  async #balances(): Promise<Map<Address, bigint>> {
    const balances = await Promise.all(
      this.#coins.map(({ address }) =>
        this.#client.readContract({ address, abi: BALANCE, functionName: 'balanceOf', args: [this.#hands] }),
      ),
    )
    return new Map(this.#coins.map(({ address }, at) => [address, balances[at] as bigint]))
  }

  async #run(calls: readonly Hex[]): Promise<void> {
    if (calls.length === 0) return
    const outcomes = await trader.batch(this.#client, this.#hands, calls, GAS)
    for (const outcome of outcomes) if (!outcome.ok) throw new Error(`a call failed: ${outcome.reason}`)
  }
}

const lower = (address: string): Address => address.toLowerCase() as Address
const pairOf = (x: Coin, y: Coin) => [getAddress(x.address), getAddress(y.address)] as const

/** Half of the dollars on each side. */
const unitsOf = ({ decimals, usd: price }: Coin, usd: number): bigint =>
  (BigInt(Math.round((usd / price) * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n

function fillPair(s: Scenario, { address, x, y, deployment }: Slot, usd: number): Hex[] {
  const [ofX, ofY] = [unitsOf(x, usd / 2), unitsOf(y, usd / 2)]
  s.bornV2(address, [x.address, ofX], [y.address, ofY], { deployment })
  return [x.address < y.address ? trader.addV2(address, ofX, ofY) : trader.addV2(address, ofY, ofX)]
}

function fillTicks(
  s: Scenario,
  { address, x, y, deployment }: Slot,
  { pool, tick }: NonNullable<Slot['ticks']>,
  usd: number,
  random: Random,
): Hex[] {
  const { family, feePpm, tickSpacing } = pool
  const positions = Array.from({ length: random.integer(1, 4) }, () => {
    const [below, above] = [random.integer(500, 20_000), random.integer(500, 20_000)]
    const snap = (at: number) => Math.floor(at / tickSpacing) * tickSpacing
    const liquidity = BigInt(
      Math.round(Math.sqrt((usd / 2 / x.usd) * 10 ** x.decimals * (usd / 2 / y.usd) * 10 ** y.decimals)),
    )
    return [snap(tick - below), snap(tick + above), liquidity] as const
  })
  s.bornV3(address, x.address, y.address, {
    family,
    deployment,
    feePpm: BigInt(feePpm),
    tickSpacing,
    tick,
    positions,
  })
  return positions.map(([from, to, liquidity]) => pool.add(from, to, liquidity))
}

function tickOf(x: Coin, y: Coin): number {
  const [zero, one] = x.address < y.address ? [x, y] : [y, x]
  return Math.round(Math.log((zero.usd / one.usd) * 10 ** (one.decimals - zero.decimals)) / Math.log(1.0001))
}
