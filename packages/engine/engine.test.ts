import { expect, test } from 'vitest'
import { createState } from './createState.ts'
import { step } from './engine.ts'
import { quoteText } from './price/quote.ts'
import { address, ChainSim } from './testing/chainSim.ts'
import { count, ms } from './units.ts'

test('smoke', () => {
  const [USDC, WETH, T] = [address(1), address(2), address(3)]
  const START = 1_700_000_000_000
  const state = createState({
    chainId: count(1),
    stables: [{ token: USDC, feed: { heartbeatMs: ms(86_400_000), graceMs: ms(60_000) } }],
    routingAssets: [WETH],
    hasSequencer: false,
  })
  const sim = new ChainSim({ startMs: START })
  sim.createV2({ address: address(101), token0: USDC, token1: WETH })
  sim.reserves(address(101), 20_000_000n * 10n ** 6n, 10_000n * 10n ** 18n)
  sim.createV3({
    address: address(102),
    token0: USDC,
    token1: WETH,
    feePpm: 500n,
    tickSpacing: 10,
    tick: 200311,
  })
  sim.liquidity(address(102), 190000, 210000, 10n ** 20n)
  sim.createV2({ address: address(103), token0: WETH, token1: T })
  sim.reserves(address(103), 100n * 10n ** 18n, 1_000_000n * 10n ** 18n)
  const b = sim.mine()
  let now = sim.timeMs
  const run = (input: any) => step(state, { atMs: now, ...input })
  run({ kind: 'health', health: { status: 'HEALTHY', record: {} } })
  const r = run({ kind: 'block', block: b })
  console.log(r.records.map(x => [x.type, JSON.stringify(x.payload).length]))
  const ref = { number: b.number, hash: b.hash, timeMs: b.timeMs }
  run({
    kind: 'token_facts',
    block: ref,
    facts: [
      [USDC, 6],
      [WETH, 18],
      [T, 18],
    ].map(([token, decimals]) => ({ token, decimals, reason: null, symbol: 'S', name: 'N' })),
  })
  run({
    kind: 'stable',
    block: ref,
    answers: [
      { token: USDC, answer: { value: 100_000_000n, decimals: 8, updatedAtMs: now, complete: true } },
    ],
    sequencer: null,
  })
  const e = run({ kind: 'enrol', token: T })
  console.log(JSON.stringify(e.records, null, 1))
  for (let i = 0; i < 200; i++) {
    sim.swap(address(103), 0, 10n ** 17n)
    const blk = sim.mine()
    now = ms(sim.timeMs + 500)
    const out = run({ kind: 'block', block: blk })
    if (i > 197) console.log(JSON.stringify(out.records, null, 1), out.changed, out.nextTimerMs! - now)
  }
  console.log(
    JSON.stringify(
      quoteText(count(1), state.tokens.get(T)!.evaluation!, state.policyView.version, 'RETRIEVED'),
      null,
      1,
    ).length,
  )
  expect(1).toBe(1)
})
