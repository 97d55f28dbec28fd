/**
 * A thousand blocks of two synthetic markets, pinned by the digest of the engine's output. A change of a
 * rule writes the new digest here, and what differs into the change log.
 */
import { expect, test } from 'vitest'
import { createState } from '../../engine/createState.ts'
import { computeTokenQuote } from '../../engine/onDemand.ts'
import { memory } from '../../engine/memory/switch.ts'
import type { Ms } from '../../engine/units.ts'
import { Digest } from '../../engine/testing/digest.ts'
import type { Block } from '../../engine/chain/block.ts'
import { bringUp } from './bringUp.ts'
import { createMarket, type MarketOptions } from './market.ts'
import { finality, Tape, type TapeOptions } from './tape.ts'

const BLOCKS = 1_000
/** Without memory every median is found by putting its window in order: fewer blocks take as long. */
const BLOCKS_WITHOUT_MEMORY = 120
/** A few tokens are asked for so often. */
const ASKED_EVERY = 50

/** An engine's output for the market's blocks, with its timers, finality and some quotes on demand. */
function digestOf(options: MarketOptions, tape: TapeOptions, blocks = BLOCKS): string {
  const market = createMarket(options)
  const state = createState(market.setup)
  const digest = new Digest()
  let timerMs: Ms | null = null
  for (const input of bringUp(market)) timerMs = digest.step(state, input).nextTimerMs
  const inputs = new Tape(market, tape).inputs()
  const recent: Block[] = []
  for (let at = 0; at < blocks; at++) {
    const input = inputs.next().value
    if (timerMs !== null && timerMs < input.atMs) digest.step(state, { kind: 'timer', atMs: timerMs })
    timerMs = digest.step(state, input).nextTimerMs
    recent.push(input.block)
    const final = recent.at(-16)
    if (at % 32 === 31 && final !== undefined) digest.step(state, finality(final, input.atMs))
    if (at % ASKED_EVERY !== 0) continue
    for (const token of [...state.tokens.keys()].filter((_, place) => place % 40 === at % 40))
      digest.add(JSON.stringify(computeTokenQuote(state, token, input.atMs, null)))
  }
  return digest.hex
}

test('short blocks, many trades: every record, quote and stored entity is the same', {
  timeout: 600_000,
}, () => {
  const market = { seed: 27, tokens: 50, pools: 110, blockMs: 450 }
  expect(digestOf(market, { swapsPerBlock: 5, liquidityShare: 0.05 })).toBe(
    '6765c0b3a9fce1fc68cfb4a1a651d5d6b7b92db7b4dc7692af36dfba27e5fbcf',
  )
})

test('slow blocks, few trades, anchors that move: every record, quote and stored entity is the same', {
  timeout: 600_000,
}, () => {
  const market = { seed: 72, tokens: 50, pools: 110, blockMs: 12_000, v3Share: 0.6 }
  const tape = { swapsPerBlock: 3, liquidityShare: 0.1, anchorMove: { everyBlocks: 7, leastBps: 30 } }
  expect(digestOf(market, tape)).toBe('1b0c156c2b6126da2fc09bdff3510dd82842c4eed4d2c1f36d14ce841a5383d8')
})

test('R-trigger-1: no cache for speed changes the engine’s output', {
  timeout: 600_000,
}, () => {
  const market = { seed: 28, tokens: 30, pools: 70, blockMs: 12_000, v3Share: 0.5 }
  const tape = { swapsPerBlock: 3, liquidityShare: 0.1, anchorMove: { everyBlocks: 7, leastBps: 30 } }
  const remembered = digestOf(market, tape, BLOCKS_WITHOUT_MEMORY)
  memory.isOn = false
  try {
    expect(digestOf(market, tape, BLOCKS_WITHOUT_MEMORY)).toBe(remembered)
  } finally {
    memory.isOn = true
  }
})
