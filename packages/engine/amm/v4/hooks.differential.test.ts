/**
 * A hook of each class beside the published manager: what we say of it from its address is what it does to swaps.
 */
import { setV4ProtocolFee, trader, V4_DYNAMIC_FEE, v4HookAddress, type V4HookName } from '@assay/world'
import { zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apply, type Flag, type HookedPool, HookedPools, Q96 } from '../../testing/hookedPools.ts'
import { UNBORN, v4EventsOf, v4TermsOf } from '../../testing/v4Contracts.ts'
import { tick as toTick } from '../../units.ts'
import { hookClassOf } from './hooks.ts'
import type { V4Event } from './kind.ts'
import { swapFee } from './swapFee.ts'
import { v4 } from './v4.ts'

const AMOUNT = 10n ** 18n
const LIQUIDITY = 10n ** 22n

let world: HookedPools

beforeAll(async () => {
  world = await HookedPools.start()
})

afterAll(() => world.anvil.close())

describe('a hook that swaps never call', () => {
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
  it('is recognised by its address, and a swap it allows follows the pool’s own curve', async () => {
    const subject = await createSubject('MockHooks', 3000, ['beforeSwap', 'afterSwap'])
    expect(classOf(subject)).toBe('FEE')
    const ours = foresee(subject)
    const { event, taken } = await swap(subject)
    expect(taken).toEqual(ours)
    expect(apply(subject, event)).toEqual('verified')
  })
})

describe('R-hook-2: a hook that sets the fee', () => {
  it('shows its fee in the swap, with the protocol fee included', async () => {
    const subject = await createSubject(
      'DynamicFeesTestHook',
      V4_DYNAMIC_FEE,
      ['afterInitialize', 'beforeSwap'],
      [
        ['setManager', world.manager],
        ['setFee', 4_321],
      ],
    )
    expect(classOf(subject)).toBe('FEE')
    const { logs } = await setV4ProtocolFee(world.client, subject.pool, 700, 300)
    for (const event of v4EventsOf(subject.pool, logs)) apply(subject, event)
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

  it('may change it between two swaps without a log, so that the next fee is unknown', async () => {
    const subject = await createSubject(
      'DynamicFeesTestHook',
      V4_DYNAMIC_FEE,
      ['beforeSwap'],
      [
        ['setManager', world.manager],
        ['setFee', 1_000],
      ],
    )
    apply(subject, (await swap(subject)).event)
    expect(subject.state.lpFeePpm).toBe(1_000n)
    await world.call(subject, 'setFee', 50_000)
    const ours = foresee(subject)
    const { event, taken } = await swap(subject)
    expect(taken).not.toEqual(ours)
    expect(apply(subject, event)).toBe('verified')
    expect(subject.state.lpFeePpm).toBe(50_000n)
  })

  it('may override the stored fee for one swap: the log, not the slot, has the fee that was paid', async () => {
    const subject = await createSubject(
      'DynamicReturnFeeTestHook',
      V4_DYNAMIC_FEE,
      ['beforeSwap'],
      [
        ['setManager', world.manager],
        ['setFee', 12_345],
      ],
    )
    expect(classOf(subject)).toBe('FEE')
    const { event } = await swap(subject)
    expect(event).toMatchObject({ kind: 'SWAP', feePpm: 12_345n })
    expect(apply(subject, event)).toBe('verified')
    expect(subject.state.lpFeePpm).toBe(12_345n)
  })

  it('is read from the chain after Initialize, which does not carry the fee, and whose fee is no tick', async () => {
    const terms = v4TermsOf(V4_DYNAMIC_FEE, 60, world.address('afterInitialize', 'beforeSwap'))
    const born: V4Event = { kind: 'INITIALIZE', sqrtPriceX96: Q96, tick: toTick(0) }
    const { state, verdict } = v4.apply(terms, UNBORN, UNBORN, born)
    expect(verdict).toBe('incomplete')
    expect(state.tick).toBe(0)
    expect(Number(state.lpFeePpm)).not.toBe(V4_DYNAMIC_FEE)
  })
})

describe('R-hook-1: a hook that adds amounts of its own to a swap', () => {
  it.each([
    { name: 'FeeTakingHook', flags: ['afterSwap', 'afterSwapReturnsDelta'] },
    { name: 'CustomCurveHook', flags: ['beforeSwap', 'beforeSwapReturnsDelta'] },
    { name: 'DeltaReturningHook', flags: ['beforeSwap', 'beforeSwapReturnsDelta'] },
  ] as const)('is refused by its address, and $name does pay a different amount', async ({ name, flags }) => {
    const subject = await createSubject(name, 3000, flags)
    expect(classOf(subject)).toBe('UNSUPPORTED')
    await trader.fund(world.client, subject.pool.key.hooks, world.tokens)
    if (name === 'DeltaReturningHook') await world.call(subject, 'setDeltaSpecified', 10n ** 16n)
    const ours = foresee(subject)
    const { taken } = await swap(subject)
    expect(taken).not.toEqual(ours)
  })
})

describe('a hook that refuses a swap', () => {
  it('has the same address flags as one that allows it', async () => {
    // It reads the account to charge from data that this swap does not pass.
    const subject = await createSubject(
      'SkipCallsTestHook',
      3000,
      ['beforeSwap', 'afterSwap'],
      [['setManager', world.manager]],
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

async function createSubject(
  name: V4HookName,
  fee: number,
  flags: readonly Flag[],
  settings: Parameters<HookedPools['create']>[3] = [],
): Promise<HookedPool> {
  const subject = await world.create(name, fee, flags, settings, [[-600, 600, LIQUIDITY]])
  expect(subject.state.liquidity).toBe(LIQUIDITY)
  return subject
}

const classOf = ({ terms }: HookedPool) => hookClassOf(terms.hooks, terms.keyFee)

/** What we say the swap of the test takes and gives, positive into the pool. */
function foresee({ terms, state }: HookedPool): readonly [bigint, bigint] {
  const result = v4.swapExactIn(terms, state, 0, AMOUNT)
  return 'reason' in result ? expect.unreachable() : [result.amountIn, -result.amountOut]
}

const swap = (subject: HookedPool) => world.swap(subject, 0, AMOUNT)
