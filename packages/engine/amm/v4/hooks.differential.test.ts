/**
 * A hook of each class beside the published manager: what we say of it from its address is what it does to swaps.
 */
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
  setV4ProtocolFee,
  startAnvil,
  trader,
  V4_DYNAMIC_FEE,
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
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tick as toTick } from '../../units.ts'
import * as tickBook from '../tickBook.ts'
import { hookClassOf } from './hooks.ts'
import type { V4Event, V4State, V4Terms } from './kind.ts'
import { swapFee } from './swapFee.ts'
import { v4 } from './v4.ts'

const Q96 = 1n << 96n
const GAS = 1_000_000_000n
const AMOUNT = 10n ** 18n
const LIQUIDITY = 10n ** 22n
const RANGE = [-600, 600] as const

let anvil: Anvil
let client: Client
let hands: Address
let manager: Address
let tokens: readonly [Address, Address]
let serial = 0x1000n

const hookAbi = parseAbi([
  'struct V4PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function setManager(address manager)',
  'function setFee(uint24 fee)',
  'function forcePoolFeeUpdate(V4PoolKey key, uint24 fee)',
  'function setDeltaSpecified(int128 delta)',
])

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 1, gasLimit: 10n * GAS })
  client = connect(anvil.url)
  hands = await deployTrader(client)
  manager = await deployV4Manager(client)
  tokens = [
    await deployToken(client, { symbol: 'A', decimals: 18 }),
    await deployToken(client, { symbol: 'B', decimals: 18 }),
  ]
  await trader.fund(client, hands, tokens)
})

afterAll(() => anvil.close())

describe('a hook that swaps never reach', () => {
  it('leaves the curve and the fee as they are', async () => {
    const subject = await createSubject('MockHooks', 3000, [
      'beforeInitialize',
      'afterInitialize',
      'beforeAddLiquidity',
      'afterAddLiquidity',
      'beforeRemoveLiquidity',
      'afterRemoveLiquidity',
      'beforeDonate',
      'afterDonate',
    ])
    expect(classOf(subject)).toBe('PLAIN')
    const ours = foresee(subject)
    const { event, taken } = await swap(subject)
    expect(taken).toEqual(ours)
    expect(apply(subject, event)).toEqual('verified')
  })
})

describe('a hook that is called around a swap and returns no amounts', () => {
  it('is told by its address, and the swap that it lets through is the pool’s own', async () => {
    const subject = await createSubject('MockHooks', 3000, ['beforeSwap', 'afterSwap'])
    expect(classOf(subject)).toBe('FEE')
    const ours = foresee(subject)
    const { event, taken } = await swap(subject)
    expect(taken).toEqual(ours)
    expect(apply(subject, event)).toEqual('verified')
  })
})

describe('R-hook-2: a hook that sets the fee', () => {
  it('shows its fee in the swap, with the protocol fee inside it', async () => {
    const subject = await createSubject(
      'DynamicFeesTestHook',
      V4_DYNAMIC_FEE,
      ['afterInitialize', 'beforeSwap'],
      [
        ['setManager', manager],
        ['setFee', 4_321],
      ],
    )
    expect(classOf(subject)).toBe('FEE')
    const { logs } = await setV4ProtocolFee(client, subject.pool, 700, 300)
    for (const event of eventsOf(subject.pool, logs)) apply(subject, event)
    const { event, taken } = await swap(subject)
    if (event.kind !== 'SWAP') return expect.unreachable()
    expect(event.feePpm).toBe(swapFee(700n, 4_321n))
    expect(apply(subject, event)).toBe('verified')
    expect(subject.state.lpFeePpm).toBe(4_321n)
    // The same swap once more is now what we say, for the hook asks for the same.
    const ours = foresee(subject)
    const again = await swap(subject)
    expect(again.taken).toEqual(ours)
    expect(again.taken).not.toEqual(taken)
  })

  it('may change it between two swaps without a log, so that the next fee is not known', async () => {
    const subject = await createSubject(
      'DynamicFeesTestHook',
      V4_DYNAMIC_FEE,
      ['beforeSwap'],
      [
        ['setManager', manager],
        ['setFee', 1_000],
      ],
    )
    apply(subject, (await swap(subject)).event)
    expect(subject.state.lpFeePpm).toBe(1_000n)
    await call(subject, 'setFee', 50_000)
    const ours = foresee(subject)
    const { event, taken } = await swap(subject)
    expect(taken).not.toEqual(ours)
    expect(apply(subject, event)).toBe('verified')
    expect(subject.state.lpFeePpm).toBe(50_000n)
  })

  it('may override the stored fee for one swap: the log, not the slot, says what was paid', async () => {
    const subject = await createSubject(
      'DynamicReturnFeeTestHook',
      V4_DYNAMIC_FEE,
      ['beforeSwap'],
      [
        ['setManager', manager],
        ['setFee', 12_345],
      ],
    )
    expect(classOf(subject)).toBe('FEE')
    const { event } = await swap(subject)
    expect(event).toMatchObject({ kind: 'SWAP', feePpm: 12_345n })
    expect(apply(subject, event)).toBe('verified')
    expect(subject.state.lpFeePpm).toBe(12_345n)
  })

  it('is asked of the chain after Initialize, which does not say the fee, and whose fee is no tick', async () => {
    const hooks = hookAt('afterInitialize', 'beforeSwap')
    const terms = termsOf(V4_DYNAMIC_FEE, hooks)
    const born: V4Event = { kind: 'INITIALIZE', sqrtPriceX96: Q96, tick: toTick(0) }
    const { state, verdict } = v4.apply(terms, UNBORN, UNBORN, born)
    expect(verdict).toBe('incomplete')
    expect(state.tick).toBe(0)
    expect(Number(state.lpFeePpm)).not.toBe(V4_DYNAMIC_FEE)
  })
})

describe('R-hook-1: a hook that puts amounts of its own into a swap', () => {
  it.each([
    { name: 'FeeTakingHook', flags: ['afterSwap', 'afterSwapReturnsDelta'] },
    { name: 'CustomCurveHook', flags: ['beforeSwap', 'beforeSwapReturnsDelta'] },
    { name: 'DeltaReturningHook', flags: ['beforeSwap', 'beforeSwapReturnsDelta'] },
  ] as const)('is refused by its address, and $name does pay something else', async ({ name, flags }) => {
    const subject = await createSubject(name, 3000, flags)
    expect(classOf(subject)).toBe('UNSUPPORTED')
    await trader.fund(client, subject.pool.key.hooks, tokens)
    if (name === 'DeltaReturningHook') await call(subject, 'setDeltaSpecified', 10n ** 16n)
    const ours = foresee(subject)
    const { taken } = await swap(subject)
    expect(taken).not.toEqual(ours)
  })
})

describe('a hook that refuses a swap', () => {
  it('is no other by its address than one that lets it through', async () => {
    // It reads whom to charge from data that this swap does not bring.
    const subject = await createSubject(
      'SkipCallsTestHook',
      3000,
      ['beforeSwap', 'afterSwap'],
      [['setManager', manager]],
    )
    expect(classOf(subject)).toBe('FEE')
    await expect(swap(subject)).rejects.toThrow('the probe failed')
  })
})

describe('the class of a hook', () => {
  it.each([
    { flags: [], fee: 3000, expected: 'PLAIN' },
    { flags: [], fee: V4_DYNAMIC_FEE, expected: 'FEE' },
    { flags: ['beforeSwap'], fee: 3000, expected: 'FEE' },
    { flags: ['afterSwap'], fee: 3000, expected: 'FEE' },
    { flags: ['beforeSwap', 'beforeSwapReturnsDelta'], fee: V4_DYNAMIC_FEE, expected: 'UNSUPPORTED' },
    { flags: ['afterSwap', 'afterSwapReturnsDelta'], fee: 3000, expected: 'UNSUPPORTED' },
    {
      flags: ['afterAddLiquidity', 'afterAddLiquidityReturnsDelta', 'afterRemoveLiquidity'],
      fee: 3000,
      expected: 'PLAIN',
    },
    { flags: ['afterRemoveLiquidity', 'afterRemoveLiquidityReturnsDelta'], fee: 3000, expected: 'PLAIN' },
  ] as const)('is $expected for $flags at fee $fee', ({ flags, fee, expected }) => {
    expect(hookClassOf(v4HookAddress(0xffffffn, ...flags), BigInt(fee))).toBe(expected)
  })

  it('is plain without a hook', () => {
    expect(hookClassOf(zeroAddress, 100n)).toBe('PLAIN')
  })
})

type Subject = { readonly pool: V4Pool; readonly terms: V4Terms; state: V4State }
type Flag = keyof typeof V4_HOOK_FLAG

const UNBORN: V4State = {
  family: 'amm_v4',
  sqrtPriceX96: 0n,
  tick: toTick(0),
  liquidity: 0n,
  lpFeePpm: 0n,
  protocolFee: 0n,
}

async function createSubject(
  name: V4HookName,
  fee: number,
  flags: readonly Flag[],
  settings: readonly (readonly [Setting, Address | number | bigint])[] = [],
): Promise<Subject> {
  const hooks = await deployV4Hook(client, name, manager, hookAt(...flags))
  for (const [setting, value] of settings) await tell(hooks, setting, value)
  const key = v4Key(tokens, fee, 60, hooks)
  const { pool, receipt } = await initialiseV4Pool(client, manager, key, Q96)
  const added = await trader.batch(client, hands, [trader.modifyV4(manager, key, ...RANGE, LIQUIDITY)], GAS)
  const [outcome] = added
  if (outcome?.ok !== true) throw new Error(`no liquidity for ${name}: ${outcome?.reason}`)
  const subject: Subject = { pool, terms: termsOf(fee, hooks), state: UNBORN }
  for (const event of eventsOf(pool, [...receipt.logs, ...outcome.logs])) apply(subject, event)
  expect(subject.state.liquidity).toBe(LIQUIDITY)
  return subject
}

const hookAt = (...flags: readonly Flag[]): Address => v4HookAddress((serial += 0x10n), ...flags)

function termsOf(fee: number, hooks: Address): V4Terms {
  const spacing = toTick(60)
  return {
    family: 'amm_v4',
    keyFee: BigInt(fee),
    tickSpacing: spacing,
    hooks,
    isNative: false,
    manager: zeroAddress,
    book: tickBook.empty(spacing),
  }
}

const classOf = ({ terms }: Subject) => hookClassOf(terms.hooks, terms.keyFee)

type Setting = 'setManager' | 'setFee' | 'setDeltaSpecified'

const call = ({ pool }: Subject, setting: Setting, value: number | bigint) =>
  tell(pool.key.hooks, setting, value)

function tell(to: Address, functionName: Setting, value: Address | number | bigint) {
  // One argument each; which type goes with which function no type says.
  const call: unknown = { abi: hookAbi, functionName, args: [value] }
  const data = encodeFunctionData(call as Parameters<typeof encodeFunctionData>[0])
  return send(client, { to, data })
}

/** What we say the swap of the test takes and gives, positive into the pool. */
function foresee({ terms, state }: Subject): readonly [bigint, bigint] {
  const result = v4.swapExactIn(terms, state, 0, AMOUNT)
  return 'reason' in result ? expect.unreachable() : [result.amountIn, -result.amountOut]
}

/** The swap as it happened: the pool's log, and what the trader really paid and got. */
async function swap({ pool }: Subject): Promise<{ event: V4Event; taken: readonly [bigint, bigint] }> {
  const data = trader.swapV4(manager, pool.key, true, AMOUNT)
  const [probe] = await trader.probe(client, hands, [data], GAS)
  if (probe?.ok !== true) throw new Error(`the probe failed with ${probe?.reason}`)
  const taken = decodeFunctionResult({ abi: swapResultAbi, data: probe.result })
  const [outcome] = await trader.batch(client, hands, [data], GAS)
  if (outcome?.ok !== true) throw new Error(`the swap failed with ${outcome?.reason}`)
  const [event] = eventsOf(pool, outcome.logs)
  if (event === undefined) throw new Error('the swap left no log')
  return { event, taken }
}

const swapResultAbi = parseAbi(['function swapV4() returns (int256, int256)'])

function apply(subject: Subject, event: V4Event): string {
  const { state, verdict } = v4.apply(subject.terms, subject.state, subject.state, event)
  subject.state = state
  return verdict
}

function eventsOf({ id }: V4Pool, logs: TransactionReceipt['logs']): V4Event[] {
  const own = logs.filter(
    ({ address, topics }) => address.toLowerCase() === manager.toLowerCase() && topics[1] === id,
  )
  return parseEventLogs({ abi: v4ManagerAbi, logs: own }).map((log): V4Event => {
    switch (log.eventName) {
      case 'Initialize':
        return { kind: 'INITIALIZE', sqrtPriceX96: log.args.sqrtPriceX96, tick: toTick(log.args.tick) }
      case 'ModifyLiquidity': {
        const { tickLower, tickUpper, liquidityDelta } = log.args
        return { kind: 'MODIFY', tickLower: toTick(tickLower), tickUpper: toTick(tickUpper), liquidityDelta }
      }
      case 'Swap': {
        const { amount0, amount1, sqrtPriceX96, liquidity, tick, fee } = log.args
        const amounts = { amount0: 0n - amount0, amount1: 0n - amount1 }
        return { kind: 'SWAP', ...amounts, sqrtPriceX96, liquidity, tick: toTick(tick), feePpm: BigInt(fee) }
      }
      case 'ProtocolFeeUpdated':
        return { kind: 'PROTOCOL_FEE', protocolFee: BigInt(log.args.protocolFee) }
    }
  })
}
