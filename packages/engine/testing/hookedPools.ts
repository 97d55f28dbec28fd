/** Pools of the published v4 manager whose hooks are those of v4-core's own tests, each followed by its logs alone. */
import {
  type Anvil,
  type Client,
  connect,
  deployToken,
  deployTrader,
  deployV4Hook,
  deployV4Manager,
  initialiseV4Pool,
  send,
  startAnvil,
  trader,
  type V4_HOOK_FLAG,
  v4HookAddress,
  type V4HookName,
  v4Key,
  v4ManagerAbi,
  type V4Pool,
} from '@assay/world'
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  encodePacked,
  keccak256,
  parseAbi,
  type TransactionReceipt,
} from 'viem'
import type { Side } from '../amm/states.ts'
import type { V4Event, V4State, V4Terms } from '../amm/v4/kind.ts'
import { v4 } from '../amm/v4/v4.ts'
import { UNBORN, v4EventsOf, v4TermsOf } from './v4Contracts.ts'

export const HOOK_GAS = 1_000_000_000n
export const Q96 = 1n << 96n
const SPACING = 60

export type Flag = keyof typeof V4_HOOK_FLAG
export type HookedPool = { readonly pool: V4Pool; readonly terms: V4Terms; state: V4State }
type Band = readonly [lower: number, upper: number, liquidity: bigint]

const hookAbi = parseAbi([
  'struct V4PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function setManager(address manager)',
  'function setFee(uint24 fee)',
  'function forcePoolFeeUpdate(V4PoolKey key, uint24 fee)',
  'function setDeltaSpecified(int128 delta)',
])
type Setting = 'setManager' | 'setFee' | 'setDeltaSpecified'
const swapResultAbi = parseAbi(['function swapV4() returns (int256, int256)'])

export class HookedPools {
  readonly anvil: Anvil
  readonly client: Client
  readonly manager: Address
  readonly tokens: readonly [Address, Address]
  readonly #hands: Address
  #serial = 0x1000n

  private constructor(parts: Pick<HookedPools, 'anvil' | 'client' | 'manager' | 'tokens'>, hands: Address) {
    this.anvil = parts.anvil
    this.client = parts.client
    this.manager = parts.manager
    this.tokens = parts.tokens
    this.#hands = hands
  }

  static async start(): Promise<HookedPools> {
    const anvil = await startAnvil({ chainId: 1, gasLimit: 10n * HOOK_GAS })
    const client = connect(anvil.url)
    const hands = await deployTrader(client)
    const manager = await deployV4Manager(client)
    const tokens = [
      await deployToken(client, { symbol: 'A', decimals: 18 }),
      await deployToken(client, { symbol: 'B', decimals: 18 }),
    ] as const
    await trader.fund(client, hands, tokens)
    return new HookedPools({ anvil, client, manager, tokens }, hands)
  }

  /** An address that no hook has yet. */
  address(...flags: readonly Flag[]): Address {
    return v4HookAddress((this.#serial += 0x10n), ...flags)
  }

  async create(
    name: V4HookName,
    fee: number,
    flags: readonly Flag[],
    settings: readonly (readonly [Setting, Address | number | bigint])[],
    bands: readonly Band[],
    sqrtPriceX96 = Q96,
  ): Promise<HookedPool> {
    const { client, manager } = this
    const hooks = await deployV4Hook(client, name, manager, this.address(...flags))
    for (const [setting, value] of settings) await this.#tell(hooks, setting, value)
    const key = v4Key(this.tokens, fee, SPACING, hooks)
    const { pool, receipt } = await initialiseV4Pool(client, manager, key, sqrtPriceX96)
    const calls = bands.map(([lower, upper, liquidity]) =>
      trader.modifyV4(manager, key, lower, upper, liquidity),
    )
    const subject: HookedPool = { pool, terms: v4TermsOf(fee, SPACING, hooks), state: UNBORN }
    this.follow(subject, receipt.logs)
    for (const outcome of await trader.batch(client, this.#hands, calls, HOOK_GAS)) {
      if (!outcome.ok) throw new Error(`no liquidity for ${name}: ${outcome.reason}`)
      this.follow(subject, outcome.logs)
    }
    return subject
  }

  async call({ pool }: HookedPool, setting: Setting, value: number | bigint): Promise<void> {
    await this.#tell(pool.key.hooks, setting, value)
  }

  /** Makes the hook set the fee in the pool's slot, which emits no log. */
  async force({ pool: { key } }: HookedPool, feePpm: number): Promise<void> {
    const args = [key, feePpm] as const
    const data = encodeFunctionData({ abi: hookAbi, functionName: 'forcePoolFeeUpdate', args })
    await send(this.client, { to: key.hooks, data })
  }

  /** The providers' fee in the pool's slot, as the service reads it: the topmost 24 bits that are used. */
  async slotFee({ pool }: HookedPool): Promise<bigint> {
    const slot = keccak256(encodePacked(['bytes32', 'uint256'], [pool.id, 6n]))
    const [word = '0x0'] = await this.client.readContract({
      address: this.manager,
      abi: v4ManagerAbi,
      functionName: 'extsload',
      args: [[slot]],
    })
    return BigInt.asUintN(24, BigInt(word) >> 208n)
  }

  /** An exact input as it happened: the pool's log, and what the trader really paid and got. */
  async swap(
    { pool }: HookedPool,
    side: Side,
    amount: bigint,
  ): Promise<{ event: V4Event; taken: readonly [bigint, bigint] }> {
    const data = trader.swapV4(this.manager, pool.key, side === 0, amount)
    const [probe] = await trader.probe(this.client, this.#hands, [data], HOOK_GAS)
    if (probe?.ok !== true) throw new Error(`the probe failed with ${probe?.reason}`)
    const taken = decodeFunctionResult({ abi: swapResultAbi, data: probe.result })
    const [outcome] = await trader.batch(this.client, this.#hands, [data], HOOK_GAS)
    if (outcome?.ok !== true) throw new Error(`the swap failed with ${outcome?.reason}`)
    const [event] = v4EventsOf(pool, outcome.logs)
    if (event === undefined) throw new Error('the swap left no log')
    return { event, taken }
  }

  /** Applies the pool's logs. */
  follow(subject: HookedPool, logs: TransactionReceipt['logs']): void {
    for (const event of v4EventsOf(subject.pool, logs)) apply(subject, event)
  }

  #tell(to: Address, functionName: Setting, value: Address | number | bigint) {
    // One argument each; which type goes with which function no type says.
    const call: unknown = { abi: hookAbi, functionName, args: [value] }
    const data = encodeFunctionData(call as Parameters<typeof encodeFunctionData>[0])
    return send(this.client, { to, data })
  }
}

export function apply(subject: HookedPool, event: V4Event): string {
  const { state, verdict } = v4.apply(subject.terms, subject.state, subject.state, event)
  subject.state = state
  return verdict
}
