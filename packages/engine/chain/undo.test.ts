import { expect, test } from 'vitest'
import { createState } from '../createState.ts'
import { step } from '../engine.ts'
import { address, ChainSim } from '../testing/chainSim.ts'
import { SETUP, USDC, WETH } from '../testing/randomMarket.ts'
import { ms } from '../units.ts'

const POOL = address(101)

function startedWith(sim: ChainSim) {
  sim.createV2({ address: POOL, token0: USDC, token1: WETH })
  sim.reserves(POOL, 4_000_000n * 10n ** 6n, 2_000n * 10n ** 18n)
  const block = sim.mine()
  const state = createState(SETUP)
  step(state, { kind: 'block', block, atMs: block.timeMs })
  return { state, block }
}

test('R-reorg-1: even the first block we saw can be replaced, down to its parent', () => {
  const sim = new ChainSim({ startMs: 1_700_000_000_000 })
  const other = sim.fork('b')
  const { state, block } = startedWith(sim)
  const replacement = [other.mine(), other.mine()]
  const { records, needs } = step(state, {
    kind: 'reorg',
    ancestor: block.parentHash,
    blocks: replacement,
    atMs: ms(block.timeMs + 9000),
  })
  expect(state.chain.tip?.hash).toBe(other.tipHash)
  expect([...state.pools.keys()]).toEqual([])
  expect(records.filter(record => record.type === 'PRICE_RETRACT').map(record => record.payload)).toEqual([
    expect.objectContaining({ scope: 'pool', reason: 'POOL_ORPHANED', current: null }),
  ])
  expect(needs).toEqual([{ kind: 'load', pool: POOL, why: 'ORPHANED' }])
})

test('faults R7: a reorganisation deeper than the undo data is refused, not guessed', () => {
  const sim = new ChainSim({ startMs: 1_700_000_000_000 })
  const { state, block } = startedWith(sim)
  const next = sim.mine()
  step(state, { kind: 'block', block: next, atMs: next.timeMs })
  step(state, { kind: 'finalize', number: block.number, hash: block.hash, atMs: next.timeMs })
  expect(() =>
    step(state, { kind: 'reorg', ancestor: block.parentHash, blocks: [], atMs: next.timeMs }),
  ).toThrow('below the finalized block')
})
