/** Webhooks: registered, matched in turns, settled; a change from outside is never overwritten by what was matched before it. */
import { expect, test } from 'vitest'
import { Secret } from '../../../ops/secret.ts'
import type { DeliveryOutcome, NewWebhook, WebhookMove } from '../../webhooks.ts'
import type { TestDatabase } from '../connect.ts'
import { key } from '../drafts.ts'

const webhook = (webhookId: string, consumer = 'acme', createdAtMs = 1_000): NewWebhook => ({
  webhookId,
  consumer,
  name: 'alerts',
  url: 'https://hooks.example/a?b=é',
  condition: '{"kind":"health","chain_id":1}',
  secret: new Secret(`whsec_${webhookId}`),
  createdAtMs,
  position: 10,
  memory: null,
})

const move = (webhookId: string, position: number, sequences: readonly number[] = []): WebhookMove => ({
  webhookId,
  revision: 0,
  position,
  memory: `{"at":${position}}`,
  deliveries: sequences.map(sequence => ({ sequence, body: `{"é":${sequence}}`, matchedAtMs: 5_000 })),
})

const outcome = (sequence: number, more: Partial<DeliveryOutcome> = {}): DeliveryOutcome => ({
  webhookId: 'one',
  sequence,
  state: 'DELIVERED',
  atMs: 6_000,
  firstAttemptAtMs: 6_000,
  nextAttemptAtMs: 0,
  status: 200,
  error: null,
  parks: null,
  ...more,
})

export function webhookContract(database: () => TestDatabase): void {
  const opened = async () => {
    const store = await database().connect()
    await store.insertKey(key('acme'))
    await store.insertKey(key('other'))
    return store
  }

  test('a webhook is read back as it was registered, by its consumer and among all', async () => {
    const store = await opened()
    expect(await store.readWebhookTurn()).toBeNull()
    expect(await store.insertWebhook(webhook('two', 'acme', 2_000), 2)).toBe(true)
    expect(await store.insertWebhook(webhook('one'), 2)).toBe(true)
    expect(await store.insertWebhook(webhook('three'), 2)).toBe(false)
    expect(await store.insertWebhook(webhook('foreign', 'other', 3_000), 2)).toBe(true)
    const row = await store.readWebhook('one')
    expect(row).toMatchObject({
      ...webhook('one'),
      state: 'ACTIVE',
      reason: null,
      previousSecret: null,
      previousUntilMs: null,
      revision: 0,
      pending: 0,
    })
    expect(row?.secret.reveal()).toBe('whsec_one')
    expect(JSON.stringify(row)).not.toContain('whsec_')
    expect(await store.readWebhook('three')).toBeNull()
    const ids = async (consumer: string | null) =>
      (await store.listWebhooks(consumer)).map(({ webhookId }) => webhookId)
    expect(await ids('acme')).toEqual(['one', 'two'])
    expect(await ids(null)).toEqual(['one', 'two', 'foreign'])
    expect(await store.deleteWebhook('two')).toBe(true)
    expect(await store.deleteWebhook('two')).toBe(false)
    expect(await ids('acme')).toEqual(['one'])
    await expect(store.insertWebhook(webhook('orphan', 'nobody'), 2)).rejects.toMatchObject({
      code: 'STORE_CONSTRAINT',
    })
  })

  test('a turn is taken over from a silent process, and its earlier matches and deliveries are refused', async () => {
    const store = await opened()
    await store.insertWebhook(webhook('one'), 5)
    const first = (await store.takeWebhookTurn('a', await store.readWebhookTurn())) as number
    const seen = await store.readWebhookTurn()
    expect(seen).toMatchObject({ generation: first, owner: 'a' })
    expect(await store.beatWebhookTurn(first)).toBe(true)
    // The holder has given a sign of life since.
    expect(await store.takeWebhookTurn('b', seen)).toBeNull()
    const second = (await store.takeWebhookTurn('b', await store.readWebhookTurn())) as number
    expect(second).toBeGreaterThan(first)
    expect(await store.beatWebhookTurn(first)).toBe(false)
    const fenced = { code: 'STORE_FENCED' }
    await expect(store.advanceWebhooks(first, [move('one', 20, [15])])).rejects.toMatchObject(fenced)
    await expect(store.settleDeliveries(first, [outcome(15)])).rejects.toMatchObject(fenced)
    await expect(store.pruneDeliveries(first, 9_000, 10)).rejects.toMatchObject(fenced)
    expect((await store.readWebhook('one'))?.position).toBe(10)
    // Somebody who knows that nobody else is there does not wait.
    const third = (await store.takeWebhookTurn('c', null)) as number
    expect(third).toBeGreaterThan(second)
    await store.leaveWebhookTurn(third)
    expect((await store.readWebhookTurn())?.owner).toBe('')
  })

  test('a position and the matches up to it are written together, and a record found again is one delivery', async () => {
    const store = await opened()
    await store.insertWebhook(webhook('one'), 5)
    const turn = (await store.takeWebhookTurn('a', null)) as number
    expect(await store.advanceWebhooks(turn, [move('one', 30, [12, 25])])).toEqual([])
    expect(await store.advanceWebhooks(turn, [move('one', 40, [25, 33])])).toEqual([])
    const again = await database().connect()
    expect(await again.readWebhook('one')).toMatchObject({ position: 40, memory: '{"at":40}', pending: 3 })
    const pending = await again.readPending('one', 2)
    expect(pending).toEqual(
      [12, 25].map(sequence => ({
        webhookId: 'one',
        sequence,
        state: 'PENDING',
        body: `{"é":${sequence}}`,
        matchedAtMs: 5_000,
        attempts: 0,
        firstAttemptAtMs: null,
        lastAttemptAtMs: null,
        nextAttemptAtMs: 0,
        status: null,
        error: null,
      })),
    )
    const listed = await again.readDeliveries({ webhookId: 'one', before: 33, limit: 1 })
    expect(listed.map(({ sequence }) => sequence)).toEqual([25])
    expect(await again.readDeliveries({ webhookId: 'none', before: null, limit: 5 })).toEqual([])
  })

  test('matches from before an outside change are not written', async () => {
    const store = await opened()
    await store.insertWebhook(webhook('one'), 5)
    await store.insertWebhook(webhook('two'), 5)
    const turn = (await store.takeWebhookTurn('a', null)) as number
    await store.advanceWebhooks(turn, [move('one', 30, [12, 25])])
    const before = (await store.readWebhookTurn())?.revision as number
    expect(await store.moveWebhook('one', 20, '{"seed":1}')).toBe(true)
    expect((await store.readWebhookTurn())?.revision).toBeGreaterThan(before)
    expect(await store.advanceWebhooks(turn, [move('one', 50, [45]), move('two', 50, [45])])).toEqual(['one'])
    expect(await store.readWebhook('one')).toMatchObject({ position: 20, memory: '{"seed":1}', revision: 1 })
    expect((await store.readPending('one', 9)).map(({ sequence }) => sequence)).toEqual([12])
    expect((await store.readPending('two', 9)).map(({ sequence }) => sequence)).toEqual([45])
    expect(await store.moveWebhook('none', 20, null)).toBe(false)
  })

  test('an attempt is written once it is over; parking and resuming begin another day', async () => {
    const store = await opened()
    await store.insertWebhook(webhook('one'), 5)
    const turn = (await store.takeWebhookTurn('a', null)) as number
    await store.advanceWebhooks(turn, [move('one', 30, [12, 25])])
    const failed = { state: 'PENDING', status: 500, error: 'status 500', nextAttemptAtMs: 9_000 } as const
    await store.settleDeliveries(turn, [outcome(12, failed)])
    expect((await store.readPending('one', 1))[0]).toMatchObject({
      ...failed,
      attempts: 1,
      firstAttemptAtMs: 6_000,
    })
    await store.settleDeliveries(turn, [outcome(12, { ...failed, atMs: 7_000, parks: 'a day has passed' })])
    expect(await store.readWebhook('one')).toMatchObject({
      state: 'PARKED',
      reason: 'a day has passed',
      revision: 1,
      pending: 2,
    })
    expect(await store.setWebhookState('one', 'ACTIVE', null)).toBe(true)
    expect((await store.readPending('one', 1))[0]).toMatchObject({
      attempts: 2,
      firstAttemptAtMs: null,
      nextAttemptAtMs: 0,
    })
    await store.settleDeliveries(turn, [outcome(12), outcome(25)])
    // A later word on what is delivered changes nothing.
    await store.settleDeliveries(turn, [outcome(12, { ...failed, atMs: 8_000 })])
    expect(await store.readPending('one', 9)).toEqual([])
    expect(await store.pruneDeliveries(turn, 6_000, 10)).toBe(0)
    expect(await store.pruneDeliveries(turn, 6_001, 1)).toBe(1)
    expect(await store.pruneDeliveries(turn, 6_001, 9)).toBe(1)
    expect(await store.setWebhookState('none', 'PAUSED', null)).toBe(false)
  })

  test('a new secret is kept beside the previous one', async () => {
    const store = await opened()
    await store.insertWebhook(webhook('one'), 5)
    expect(await store.rotateWebhook('one', new Secret('whsec_next'), 9_000)).toBe(true)
    const row = await store.readWebhook('one')
    expect([
      row?.secret.reveal(),
      row?.previousSecret?.reveal(),
      row?.previousUntilMs,
      row?.revision,
    ]).toEqual(['whsec_next', 'whsec_one', 9_000, 1])
    expect(await store.rotateWebhook('none', new Secret('whsec_next'), 9_000)).toBe(false)
  })
}
