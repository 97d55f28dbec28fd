/** The text of entities: whatever a name looks like, it is read back as it was, and numbers of any size as numbers. */
import type { EntityKey, PoolState, Token } from '../entities.ts'
import { expect, test } from 'vitest'
import { decodeState, encodeEntity, entityKeys } from './codec.ts'
import { visitAt } from '../chain/visit.ts'
import { createState } from '../createState.ts'
import { step } from '../engine.ts'
import { changesOf } from '../memory/temporalTape.ts'
import { DEFAULT_POLICY } from '../policy/policy.ts'
import type { State } from '../state.ts'
import { randomLife } from '../testing/randomLife.ts'
import { SETUP, TOKENS } from '../testing/randomMarket.ts'
import { TICK_FAMILIES } from '../testing/tickFamilies.ts'
import { ms } from '../units.ts'
import { read, writeWith } from './words.ts'

const textsOf = (state: State): [EntityKey, string][] =>
  [...entityKeys(state)].map(key => [key, encodeEntity(state, key) as string])

function lived(): State {
  const state = createState(SETUP)
  for (const input of randomLife(5, { families: TICK_FAMILIES, rounds: 40 }).life) step(state, input)
  return state
}

test('names that look like numbers read back as names', () => {
  const state = lived()
  const token = state.tokens.get(TOKENS[0] as Token['address']) as Token
  Object.assign(token, { symbol: '#12', name: '##' })
  const health = { status: 'HEALTHY', record: { reasons: ['#1', { deep: '#' }, null] } } as const
  step(state, { kind: 'health', atMs: ms(2_000_000_000_000), health })
  const back = decodeState(SETUP, textsOf(state))
  expect(back.tokens.get(token.address)).toEqual(token)
  expect(back.chain.health).toEqual(health)
})

test('R-fold-6: state that was read back is written unchanged, including numbers of any size', () => {
  const state = lived()
  const texts = textsOf(state)
  expect(texts.some(([, text]) => /"#\d{25,}"/.test(text))).toBe(true)
  expect(textsOf(decodeState(SETUP, texts))).toEqual(texts)
})

test('further members are written as JSON, and as words where a string looks like a number', () => {
  for (const plain of [
    { swaps: [{ kind: 'SWAP', at: 7 }] },
    { swaps: [] },
    { swaps: ['#7', '##', { deep: '#' }] },
  ]) {
    const text = writeWith({ reserve: 5n, name: '#12' }, plain)
    expect(text).toMatch(/^\{"reserve":"#5","name":"##12","swaps":\[/)
    expect(read(text)).toEqual({ reserve: 5n, name: '#12', ...plain })
  }
})

test('another policy gives another text of the chain', () => {
  const state = lived()
  const policyIn = () => (JSON.parse(encodeEntity(state, 'chain') as string) as { policy: object }).policy
  expect(policyIn()).toEqual(DEFAULT_POLICY)
  const other = { ...DEFAULT_POLICY, ttl_ms: { ...DEFAULT_POLICY.ttl_ms, default: ms(1234) } }
  step(state, { kind: 'policy', atMs: ms(2_000_000_000_000), policy: other })
  expect(policyIn()).toEqual(other)
})

test('R-visit-7: a pool stored before visits existed has none, and books from its last change on', () => {
  const state = lived()
  const texts = textsOf(state).map(([key, text]): [EntityKey, string] => {
    if (!key.startsWith('pool/')) return [key, text]
    const image = JSON.parse(text) as { state: { visit?: unknown } }
    delete image.state.visit
    return [key, JSON.stringify(image)]
  })
  const back = decodeState(SETUP, texts)
  let stale = 0
  for (const { address, state: before } of back.pools.values()) {
    expect(before.visit).toBe(null)
    const { timeMs, sinceMs } = visitAt(before, ms(before.changed.timeMs + 5_000), SETUP.blockTimeMs)
    expect([timeMs - before.changed.timeMs, timeMs - sinceMs]).toEqual([5_000, 5_000])
    if (state.pools.get(address)?.state.visit !== null) stale++
  }
  expect(stale).toBeGreaterThan(3)
})

test('R-fold-6: state stored with whole histories is read, and continues as before', () => {
  const { life } = randomLife(7, { rounds: 40, maxDepth: 6 })
  const half = Math.floor(life.length / 2)
  const state = createState(SETUP)
  for (const input of life.slice(0, half)) step(state, input)
  const whole = textsOf(state)
    .filter(([key]) => !key.startsWith('history/'))
    .map(([key, text]): [EntityKey, string] => {
      const image = JSON.parse(text) as {
        state: { history: unknown }
        pools: [string, { history: unknown }][]
      }
      const address = key.split('/')[1] as Token['address']
      if (key.startsWith('pool/')) image.state.history = historyText(state.pools.get(address)?.state)
      else if (key.startsWith('undo/')) {
        const journal = state.journals.find(({ key: own }) => own === key)
        for (const [pool, stored] of image.pools)
          stored.history = historyText(journal?.pools.get(pool as never))
      } else return [key, text]
      return [key, JSON.stringify(image)]
    })
  const back = decodeState(SETUP, whole)
  for (const input of life.slice(half)) expect(step(back, input).records).toEqual(step(state, input).records)
})

/** As it was stored before deltas existed. */
function historyText(from: PoolState | undefined): unknown {
  return JSON.parse(
    JSON.stringify(changesOf((from as PoolState).history), (_, each: unknown) =>
      typeof each === 'bigint' ? `#${each}` : each,
    ),
  )
}
