/**
 * Pools whose hook sets the fee, or may: our quote against V4Quoter, which calls the hook as a swap does. The curve is the
 * pool's, so a quote is exact as soon as its fee is known: from the pool's last Swap, or from its slot.
 */
import { Random, setV4ProtocolFee, V4_DYNAMIC_FEE, type V4HookName } from '@assay/world'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cases } from '../../testing/cases.ts'
import { apply, type Flag, HOOK_GAS, type HookedPool, HookedPools } from '../../testing/hookedPools.ts'
import { printedSeed } from '../../testing/printedSeed.ts'
import { drawRange, drawStart, extremeOf, rangeOf, reserve } from '../../testing/tickDraws.ts'
import { deployV4Quoter, quotedBy } from '../../testing/v4Contracts.ts'
import type { Side } from '../states.ts'
import * as swapLoop from '../swapLoop.ts'
import { tickAtSqrtRatio } from '../tickMath.ts'
import { hookClassOf } from './hooks.ts'
import type { V4State } from './kind.ts'
import { swapFeeOf, WHOLE_FEE } from './swapFee.ts'
import { v4 } from './v4.ts'

const SPACING = 60
const POSITIONS = 10
const ROUNDS = cases(6)
const QUOTES_PER_ROUND = 4
/** A fee of everything sells nothing; the hooks of v4-core's tests allow all below it. */
const FEES = [0, 1, 100, 500, 3000, 12_345, 250_000, 999_999] as const
const KINDS = ['EXACT_IN', 'EXACT_OUT'] as const

type Setting = Parameters<HookedPools['create']>[3][number]
const HOOKS: readonly {
  readonly name: V4HookName
  readonly keyFee: number
  readonly flags: readonly Flag[]
  readonly setsFee: boolean
}[] = [
  { name: 'DynamicFeesTestHook', keyFee: V4_DYNAMIC_FEE, flags: ['beforeSwap'], setsFee: true },
  { name: 'DynamicReturnFeeTestHook', keyFee: V4_DYNAMIC_FEE, flags: ['beforeSwap'], setsFee: true },
  { name: 'MockHooks', keyFee: 3000, flags: ['beforeSwap', 'afterSwap'], setsFee: false },
]

const seed = printedSeed()
const done = { quotes: 0, exact: 0, differing: 0 }
let world: HookedPools
let quoter: Address

beforeAll(async () => {
  world = await HookedPools.start()
  quoter = await deployV4Quoter(world.client, world.manager)
})
afterAll(() => world.anvil.close())

describe.each(HOOKS)('R-hook-2: with $name beside it', ({ name, keyFee, flags, setsFee }) => {
  it('a pool quotes what V4Quoter does, at the fee that its last swap paid', async () => {
    const random = new Random(seed, `quoter ${name}`)
    const subject = await createPool(random, name, keyFee, flags, setsFee ? settings() : [])
    expect(hookClassOf(subject.terms.hooks, subject.terms.keyFee)).toBe('FEE')
    for (let round = 0; round < ROUNDS; round++) {
      if (random.chance(1, 3)) {
        const [a, b] = [random.pick([0, 1, 500, 1000]), random.pick([0, 7, 999, 1000])]
        world.follow(subject, (await setV4ProtocolFee(world.client, subject.pool, a, b)).logs)
      }
      if (setsFee) await world.call(subject, 'setFee', random.pick(FEES))
      const fee = await trade(random, subject)
      for (let n = 0; n < QUOTES_PER_ROUND; n++) await compare(random, subject, fee)
    }
  })
})

describe('R-hook-2: a fee that the hook changed since', () => {
  it('is all that a quote lacks: with it the quote equals V4Quoter’s again', async () => {
    const random = new Random(seed, 'quoter since')
    const subject = await createPool(
      random,
      'DynamicFeesTestHook',
      V4_DYNAMIC_FEE,
      ['beforeSwap'],
      settings(),
    )
    for (let round = 0; round < ROUNDS; round++) {
      await trade(random, subject)
      const feePpm = random.pick(FEES.filter(each => BigInt(each) !== subject.state.lpFeePpm))
      await world.call(subject, 'setFee', feePpm)
      const now = { ...subject.state, lpFeePpm: BigInt(feePpm) }
      for (let n = 0; n < QUOTES_PER_ROUND; n++) await compare(random, subject, [now])
    }
    expect(done.differing).toBeGreaterThan(0)
  })

  it('is read from the slot when no swap has shown it', async () => {
    const random = new Random(seed, 'quoter slot')
    const subject = await createPool(
      random,
      'DynamicFeesTestHook',
      V4_DYNAMIC_FEE,
      ['afterInitialize'],
      settings(),
    )
    expect(hookClassOf(subject.terms.hooks, subject.terms.keyFee)).toBe('FEE')
    for (let round = 0; round < ROUNDS; round++) {
      const feePpm = random.pick(FEES)
      await world.force(subject, feePpm)
      const read = { ...subject.state, lpFeePpm: await world.slotFee(subject) }
      expect(read.lpFeePpm).toBe(BigInt(feePpm))
      for (let n = 0; n < QUOTES_PER_ROUND; n++) await compare(random, subject, [read])
    }
  })
})

it('the random cases above were many enough to count', () => {
  expect(done.quotes).toBeGreaterThanOrEqual(10 * ROUNDS)
  expect(done.exact).toBeGreaterThanOrEqual(0.9 * done.quotes)
  if (ROUNDS > 6) console.info(done)
})

const settings = (): readonly Setting[] => [
  ['setManager', world.manager],
  ['setFee', 500],
]

function createPool(
  random: Random,
  name: V4HookName,
  keyFee: number,
  flags: readonly Flag[],
  settings: readonly Setting[],
): Promise<HookedPool> {
  const price = drawStart(random, 'near one')
  const at = tickAtSqrtRatio(price)
  const whole = [...rangeOf(SPACING, [-Infinity, Infinity]), 10n ** 18n] as const
  const others = Array.from({ length: POSITIONS }, () => {
    const [lower, upper] = drawRange(random, at, SPACING)
    return [lower, upper, random.magnitude(1n << 20n, 1n << 80n)] as const
  })
  return world.create(name, keyFee, flags, settings, [whole, ...others], price)
}

/**
 * A swap of some size, which shows its fee: the whole of it, from which the providers' part follows but for rounding. Two
 * parts may have the same sum one way and another the other way (R-ticks-7).
 */
async function trade(random: Random, subject: HookedPool): Promise<readonly V4State[]> {
  const side = random.pick([0, 1] as const)
  const amount = random.magnitude(1000n, reserve(subject.state, side) / 20n + 1000n)
  const { event } = await world.swap(subject, side, amount)
  expect(apply(subject, event)).toBe('verified')
  if (event.kind !== 'SWAP') return expect.unreachable('a swap')
  const { state } = subject
  const parts = [state.lpFeePpm - 1n, state.lpFeePpm, state.lpFeePpm + 1n].filter(
    each => each >= 0n && swapFeeOf(state.protocolFee, each, side) === event.feePpm,
  )
  expect(parts).toContain(state.lpFeePpm)
  return subject.terms.keyFee === BigInt(V4_DYNAMIC_FEE)
    ? parts.map(lpFeePpm => ({ ...state, lpFeePpm }))
    : [state]
}

/** `states` are the pool's with the fees that may hold now: V4Quoter says what we do at one of them. */
async function compare(
  random: Random,
  { pool, terms, state: known }: HookedPool,
  states: readonly V4State[],
): Promise<void> {
  const side: Side = random.pick([0, 1] as const)
  const kind = random.pick(KINDS)
  const scale = reserve(known, kind === 'EXACT_IN' ? side : side === 0 ? 1 : 0)
  const order = { kind, amount: random.magnitude(1n, scale / 20n + 2n) }
  const answers = states.map(state => answerOf(terms, state, side, order))
  // The quoter refuses what the pool cannot take, or give, in whole.
  if (answers.includes(null)) return
  const said = await quotedBy(world.client, quoter, pool, side, order, HOOK_GAS)
  expect(answers).toContain(said)
  if (new Set(states.map(state => swapFeeOf(state.protocolFee, state.lpFeePpm, side))).size === 1)
    done.exact++
  done.quotes++
  if (answerOf(terms, known, side, order) !== said) done.differing++
}

/** What we say goes out for an exact input, or in for an exact output; null where the pool cannot do all of it. */
function answerOf(
  { book, ...terms }: HookedPool['terms'],
  state: V4State,
  side: Side,
  order: { readonly kind: (typeof KINDS)[number]; readonly amount: bigint },
): bigint | null {
  const { kind, amount } = order
  const feePpm = swapFeeOf(state.protocolFee, state.lpFeePpm, side)
  // With the protocol's part a fee may round up to all of the input, which buys no exact output.
  if (feePpm === WHOLE_FEE && kind === 'EXACT_OUT') return null
  const ours = swapLoop.swap({ book, feePpm }, state, side, order, extremeOf(side))
  if ('reason' in ours) return expect.unreachable('the whole book is known')
  const [paid, got] = side === 0 ? [ours.amount0, -ours.amount1] : [ours.amount1, -ours.amount0]
  if ((kind === 'EXACT_IN' ? paid : got) !== amount) return null
  if (kind === 'EXACT_OUT') return paid
  const quoted = v4.swapExactIn({ book, ...terms }, state, side, amount)
  expect('reason' in quoted ? null : quoted.amountOut).toBe(got)
  return got
}
