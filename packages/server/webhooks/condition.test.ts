import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Envelope, WebhookCondition } from '@assay/sdk/wire'
import { unsealed } from '../store/envelope.ts'
import type { RecordDraft } from '../store/port.ts'
import { address, health, poolFacts, poolUpsert, unpricedUpsert } from '../store/testing/drafts.ts'
import { judgeOf, type Memory, type Said } from './condition.ts'
import { CHAIN, pricedAt, retractedTo, TOKEN } from './testing/script.ts'

const token = { chain_id: CHAIN, token_address: TOKEN as `0x${string}` }
const recordOf = (draft: RecordDraft, at: number): Envelope =>
  JSON.parse(unsealed(draft).seal(at + 1, null, null).envelope) as Envelope

function messagesOf(condition: WebhookCondition, drafts: readonly RecordDraft[]): (Said | null)[] {
  const judge = judgeOf(condition)
  let memory: Memory | null = null
  return drafts.map((draft, at) => {
    const judged = judge.judge(memory, recordOf(draft, at))
    // As it is kept between two records.
    memory = judged.memory === null ? null : (JSON.parse(JSON.stringify(judged.memory)) as Memory)
    return judged.said
  })
}
const at = (cents: bigint, score?: number) => pricedAt('r', cents, 100n, score)
const unpriced = unpricedUpsert({ chainId: CHAIN, recordId: 'u' }, TOKEN, 'NO_ROUTE')
const words = (said: readonly (Said | null)[], field: string) => said.map(each => each?.data[field] ?? null)

test('crosses: fires on the other side of the value and not before, up or down; at the value is above', () => {
  const drafts = [at(99n), at(100n), at(101n), at(99n), unpriced, at(98n), at(102n)]
  const crosses = { kind: 'price_crosses', ...token, price_usd: '1' } as const
  expect(words(messagesOf(crosses, drafts), 'direction')).toEqual([
    null,
    'up',
    null,
    'down',
    null,
    null,
    'up',
  ])
  expect(words(messagesOf({ ...crosses, direction: 'down' }, drafts), 'direction')).toEqual([
    null,
    null,
    null,
    'down',
    null,
    null,
    null,
  ])
})

test('crosses: the state after a retraction is judged like any price', () => {
  const crosses = { kind: 'price_crosses', ...token, price_usd: '1.005' } as const
  const drafts = [at(99n), at(105n), retractedTo('x', 'r', 99n, 100n)]
  expect(words(messagesOf(crosses, drafts), 'direction')).toEqual([null, 'up', 'down'])
})

test('crosses: no float decides, however close the value is', () => {
  const [third, digits] = [pricedAt('a', 1n, 3n), `0.${'3'.repeat(60)}`]
  const crosses = { kind: 'price_crosses', ...token, price_usd: digits } as const
  const just = pricedAt('b', BigInt('3'.repeat(60)) - 1n, 10n ** 60n)
  expect(words(messagesOf(crosses, [just, third, just]), 'direction')).toEqual([null, 'up', 'down'])
})

test('moves: from the last reported price, by exactly the requested amount, both ways', () => {
  const moves = { kind: 'price_moves', ...token, bps: 500 } as const
  const drafts = [at(100n), at(104n), at(105n), at(101n), at(100n), at(99n)]
  expect(messagesOf(moves, drafts).map(said => said !== null)).toEqual([
    false,
    false,
    true,
    false,
    false,
    true,
  ])
  expect(messagesOf(moves, drafts)[2]?.data).toMatchObject({ from_usd: { display: '1' } })
})

test('moves: fires exactly when the fraction says so', () => {
  const price = fc.tuple(fc.bigInt(1n, 10n ** 30n), fc.bigInt(1n, 10n ** 30n))
  fc.assert(
    fc.property(price, price, fc.integer({ min: 1, max: 1_000_000 }), ([a, b], [c, d], bps) => {
      const said = messagesOf({ kind: 'price_moves', ...token, bps }, [
        pricedAt('a', a, b),
        pricedAt('b', c, d),
      ])[1]
      const change = c * b - a * d
      const isDue = (change < 0n ? -change : change) * 10_000n >= BigInt(bps) * a * d
      expect(said !== null).toBe(isDue)
    }),
  )
})

test('score: fires when it falls below, again only after it was above; without a price there is none', () => {
  const below = { kind: 'score_below', ...token, score: 5 } as const
  const drafts = [at(1n, 7), at(1n, 4), at(1n, 3), at(1n, 5), unpriced, at(1n, 5), at(1n, 4)]
  const said = messagesOf(below, drafts)
  expect(words(said, 'score')).toEqual([null, 4, null, null, null, null, 4])
  expect(said[4]?.data).toEqual({ score: null, threshold: 5, unpriced_reason: 'NO_ROUTE' })
})

test('retracted: every withdrawal of the token, or of any token of the chain', () => {
  const drafts = [at(1n), retractedTo('x', 'r', 1n, 2n), retractedTo('y', 'x', 1n, 2n)]
  for (const condition of [
    { kind: 'retracted', ...token } as const,
    { kind: 'retracted', chain_id: CHAIN } as const,
  ])
    expect(words(messagesOf(condition, drafts), 'reason')).toEqual([null, 'REORG', 'REORG'])
  const other = { kind: 'retracted', ...token, token_address: address(9) as `0x${string}` } as const
  expect(words(messagesOf(other, drafts), 'reason')).toEqual([null, null, null])
})

test('health: each change of the status, and not the reports in between', () => {
  const drafts = ['HEALTHY', 'HEALTHY', 'GAP', 'GAP', 'HEALTHY'].map(status => health(CHAIN, status))
  expect(words(messagesOf({ kind: 'health', chain_id: CHAIN }, drafts), 'to')).toEqual([
    null,
    null,
    'GAP',
    null,
    'HEALTHY',
  ])
})

test('sellability: each change when states have it; when they do not, none', () => {
  const saying = (status: string | null): RecordDraft => {
    const draft = at(1n)
    return status === null ? draft : { ...draft, payload: { ...draft.payload, sellability: { status } } }
  }
  const drafts = [null, 'OK', 'OK', null, 'BLOCKED', 'OK'].map(saying)
  expect(words(messagesOf({ kind: 'sellability', ...token }, drafts), 'to')).toEqual([
    null,
    null,
    null,
    null,
    'BLOCKED',
    'OK',
  ])
})

test('unrelated records change nothing: another token, and a pool of this one', () => {
  const pool = poolFacts('pool', TOKEN, address('usd'))
  const drafts = [
    at(99n),
    pricedAt('o', 200n, 100n, 7, address(9)),
    poolUpsert({ chainId: CHAIN, recordId: 'p' }, pool, 1),
    at(99n),
  ]
  const crosses = { kind: 'price_crosses', ...token, price_usd: '1' } as const
  expect(messagesOf(crosses, drafts)).toEqual([null, null, null, null])
})
