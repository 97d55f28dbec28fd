import { setTimeout } from 'node:timers/promises'
import { type Input, ms } from '@assay/engine'
import { expect, test } from 'vitest'
import { address } from '../../../engine/testing/chainSim.ts'
import { E18, E6, MINUTE, P1, P2, T, USDC } from '../../../engine/testing/cast.ts'
import { scenario } from '../../../engine/testing/scenario.ts'
import { CostAnswers } from './costAnswers.ts'

const UNKNOWN = address(0x999)

/** A priced token, and a lane that records when an answer is begun. */
function setup() {
  const s = scenario()
  s.v2(P1, [T, 1_000_000n * E18], [USDC, 1_000_000n * E6])
  s.v2(P2, [T, 900_000n * E18], [USDC, 900_000n * E6], { deployment: 'b' })
  s.enrol(T)
  s.quiet(40 * MINUTE)
  const events: string[] = []
  let isFailing = false
  let nowMs: Input['atMs'] = ms(s.nowMs)
  const answers = new CostAnswers({
    state: s.state,
    inLane: async task => {
      events.push('begun')
      if (!isFailing) return task()
      isFailing = false
      throw new Error('the lane is closed')
    },
    now: () => nowMs,
    lastSequence: () => 7,
  })
  const ask = async (token: typeof T, deadlineMs = 1000) => {
    const answer = await answers.answer(token, deadlineMs)
    events.push(answer.outcome)
    return answer
  }
  const pass = (forMs: number) => {
    nowMs = ms(nowMs + forMs)
  }
  const failNext = () => {
    isFailing = true
  }
  return { ask, events, failNext, pass }
}

test('an answer is begun when the one before it is complete', async () => {
  const { ask, events } = setup()
  const [first] = await Promise.all([ask(T), ask(UNKNOWN), ask(T)])
  expect(events).toEqual(['begun', 'cost', 'begun', 'not_enrolled', 'begun', 'cost'])
  const { moves, as_of } = JSON.parse((first as { cost: string }).cost) as {
    moves: { price_usd: object | null }[]
    as_of: object
  }
  expect([moves.length, moves.every(({ price_usd }) => price_usd !== null)]).toEqual([6, true])
  expect(as_of).toMatchObject({ stream_sequence: 7 })
})

test('an answer whose turn comes after its deadline is not begun, and those behind it are', async () => {
  const { ask, events, pass } = setup()
  const all = [ask(T, 1000), ask(T, 1000), ask(T, 5000)]
  await setTimeout(0)
  pass(2000)
  await Promise.all(all)
  expect(events).toEqual(['begun', 'cost', 'too_late', 'begun', 'cost'])
})

test('a failed answer does not hold up the next one', async () => {
  const { ask, events, failNext } = setup()
  failNext()
  const [failed, next] = await Promise.allSettled([ask(T), ask(T)])
  expect([failed.status, next.status, events]).toEqual(['rejected', 'fulfilled', ['begun', 'begun', 'cost']])
})
