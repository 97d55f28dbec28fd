/**
 * Uniswap v4: one manager keeps all pools, and a pool may have a hook. The plan states its class, from a hook that
 * swaps never reach to one that takes amounts of its own.
 */
import { type Address, encodeFunctionData, getAddress, type Hex, parseAbi, zeroAddress } from 'viem'
import { type Client, send } from '../../client.ts'
import * as trader from '../../trader.ts'
import {
  deployV4Hook,
  deployV4Manager,
  initialiseV4Pool,
  readV4Slot,
  readV4TickGross,
  V4_DYNAMIC_FEE,
  v4HookAddress,
  v4Key,
} from '../../v4.ts'
import type { DeploymentPlan, HookClass, PoolPlan } from '../plan.ts'
import { priceOf, sqrtPriceX96 } from '../valuation.ts'
import { concentrated } from './concentrated.ts'
import type { Order, WorldPool } from './family.ts'

/** The values that user interfaces offer. */
const SPACINGS: Readonly<Record<number, number>> = { 100: 1, 500: 10, 3000: 60, 10_000: 200 }
/** Far more of the native currency than a trade can take. */
const NATIVE_BALANCE = 1n << 140n

const setterAbi = parseAbi(['function setManager(address manager)', 'function setFee(uint24 fee)'])

/** The fee set by the hook. */
const FEE_PPM = 3000

type Hook = { readonly address: Address; deploy(client: Client, manager: Address): Promise<void> }

const HOOKS: Readonly<Record<HookClass, Hook>> = {
  PLAIN: hook('MockHooks', v4HookAddress(0xa55a01n, 'afterInitialize', 'afterAddLiquidity')),
  FEE: hook('DynamicFeesTestHook', v4HookAddress(0xa55a02n, 'beforeSwap'), [
    manager => encodeFunctionData({ abi: setterAbi, functionName: 'setManager', args: [manager] }),
    () => encodeFunctionData({ abi: setterAbi, functionName: 'setFee', args: [FEE_PPM] }),
  ]),
  SWAP: hook('FeeTakingHook', v4HookAddress(0xa55a03n, 'afterSwap', 'afterSwapReturnsDelta')),
}
function hook(
  name: Parameters<typeof deployV4Hook>[1],
  address: Address,
  setUp: readonly ((manager: Address) => Hex)[] = [],
): Hook {
  return {
    address,
    async deploy(client, manager) {
      await deployV4Hook(client, name, manager, address)
      for (const call of setUp) await send(client, { to: address, data: call(manager) })
    },
  }
}

export const managed = concentrated({
  async deploy(client, { factory }, chainId) {
    await deployV4Manager(client, { chainId, site: factory })
  },

  async create(order) {
    const { client, deployment, pool, tokens, trader: account } = order
    const kept = keptOf(pool)
    if (kept !== null) await kept.deploy(client, deployment.factory)
    const [token0, token1] = inOrder(order)
    if (pool.isNative === true) await client.setBalance({ address: account, value: NATIVE_BALANCE })
    const sides = tokens.map(token =>
      pool.isNative === true && token === token0 ? zeroAddress : getAddress(token.address),
    ) as unknown as readonly [Address, Address]
    const fee = pool.hook === 'FEE' ? V4_DYNAMIC_FEE : (pool.feePpm as number)
    const key = v4Key(sides, fee, SPACINGS[pool.feePpm as number] as number, kept?.address)
    const root = sqrtPriceX96(priceOf(token0, token1))
    const made = await initialiseV4Pool(client, deployment.factory, key, root)
    return { address: made.pool.id, token0, token1, kept: { manager: deployment.factory, key } }
  },

  spacingOf: (_client, pool) => Promise.resolve(keyOf(pool).key.tickSpacing),
  readSlot: (client, pool) => readV4Slot(client, { ...keyOf(pool), id: pool.address }),
  readGross: (client, pool, tick) => readV4TickGross(client, { ...keyOf(pool), id: pool.address }, tick),

  modify(pool, { lower, upper }, liquidity) {
    const { manager, key } = keyOf(pool)
    return trader.modifyV4(manager, key, lower, upper, liquidity)
  },

  swap(pool, zeroForOne, amount, limit) {
    const { manager, key } = keyOf(pool)
    return trader.swapV4(manager, key, zeroForOne, amount, limit)
  },

  config: (_deployment: DeploymentPlan) => ({}),
})

const keptOf = ({ hook: kind }: PoolPlan): Hook | null => (kind === undefined ? null : HOOKS[kind])

/** The native currency, which counts as the wrapped one, is always first. */
function inOrder({ pool, tokens }: Order): Order['tokens'] {
  const [a, b] = tokens
  return pool.isNative === true && b.symbol === pool.pair[0] ? [b, a] : [a, b]
}

function keyOf({ kept, address }: WorldPool) {
  if (kept === undefined) throw new Error(`${address} is in no manager`)
  return kept
}
