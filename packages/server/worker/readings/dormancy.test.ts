import { createState, DEFAULT_POLICY, type Input, ms, type State, step } from '@assay/engine'
import { beforeEach, expect, test } from 'vitest'
import type { Address } from '../../ops/hex.ts'
import { StoppedClock } from '../../endToEnd/testing/testClock.ts'
import { Dormancy } from './dormancy.ts'

const DAY_MS = 86_400_000
const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const [ASKED, IDLE, CONFIGURED, ANCHOR, STABLE, GONE] = [1, 2, 3, 4, 5, 6].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
]

let clock: StoppedClock
let state: State
let dormancy: Dormancy
let asked: Map<Address, number>
let applied: Input[]
beforeEach(async () => {
  clock = new StoppedClock()
  applied = []
  const chain = {
    chainId: 1,
    tokens: [CONFIGURED],
    routingAssets: [ANCHOR],
    stables: [{ tokenAddress: STABLE, usdFeed: null }],
  }
  state = createState(
    {
      chainId: 1,
      deployments: [],
      stables: [],
      sequencer: false,
      routingAssets: [ANCHOR],
    } as unknown as Parameters<typeof createState>[0],
    DEFAULT_POLICY,
  )
  asked = new Map([ASKED, IDLE, CONFIGURED, ANCHOR, STABLE, GONE].map(token => [token, clock.nowMs()]))
  for (const token of asked.keys())
    if (token !== GONE) step(state, { kind: 'enrol', token, atMs: ms(clock.nowMs()) })
  dormancy = new Dormancy({
    chain,
    state,
    clock,
    store: {
      readIdle: async (_, sinceMs) => [...asked].filter(([, atMs]) => atMs < sinceMs).map(([token]) => token),
    },
    apply: async input => {
      applied.push(input)
      return step(state, input)
    },
  })
})

test('after seven days without a request, and not before, and only tokens enrolled on request', async () => {
  clock.advance(7 * DAY_MS)
  asked.set(ASKED, clock.nowMs())
  await dormancy.tend()
  expect(applied).toEqual([])
  clock.advance(3_600_000)
  await dormancy.tend()
  expect(applied).toEqual([{ kind: 'unenrol', token: IDLE, reason: 'DORMANT', atMs: clock.nowMs() }])
  expect(state.tokens.get(IDLE)).toMatchObject({ dormant: 'DORMANT', enrolledAtMs: null })
  clock.advance(3_600_000)
  await dormancy.tend()
  expect(applied).toHaveLength(1)
})

test('it is not checked with every item of the feed', async () => {
  await dormancy.tend()
  clock.advance(8 * DAY_MS)
  await dormancy.tend()
  const { length } = applied
  expect(length).toBeGreaterThan(0)
  step(state, { kind: 'enrol', token: IDLE, atMs: ms(clock.nowMs()) })
  clock.advance(60_000)
  await dormancy.tend()
  expect(applied).toHaveLength(length)
})
