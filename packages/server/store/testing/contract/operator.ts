/** Consumers, policies, settings, enrolments and the audit trail. */
import { expect, test } from 'vitest'
import type { TestDatabase } from '../connect.ts'
import { address, commitOf, key, tokenFacts } from '../drafts.ts'

export function operatorContract(database: () => TestDatabase): void {
  test('a consumer is created with its first key, has the limits last written, and may lose them again', async () => {
    const store = await database().connect()
    expect(await store.readConsumer('acme')).toBeNull()
    expect(await store.writeLimits('acme', '{}')).toBe(false)
    await store.insertKey(key('acme'))
    expect(await store.readConsumer('acme')).toEqual({ consumer: 'acme', limits: null })
    expect(await store.writeLimits('acme', '{"units":1}')).toBe(true)
    expect(await (await database().connect()).readConsumer('acme')).toEqual({
      consumer: 'acme',
      limits: '{"units":1}',
    })
    expect(await store.writeLimits('acme', null)).toBe(true)
    expect((await store.readConsumer('acme'))?.limits).toBeNull()
  })

  test('the audit trail is read newest first, page by page', async () => {
    const store = await database().connect()
    for (let n = 1; n <= 5; n++)
      await store.audit({
        atMs: n,
        actor: 'a',
        action: 'key.issue',
        subject: `${n}`,
        detail: n === 1 ? null : '{}',
      })
    const first = await store.readAudit(null, 2)
    expect(first.map(row => [row.subject, row.detail])).toEqual([
      ['5', '{}'],
      ['4', '{}'],
    ])
    const rest = await store.readAudit(first[1]?.id ?? 0, 10)
    expect(rest.map(row => [row.atMs, row.subject, row.detail])).toEqual([
      [3, '3', '{}'],
      [2, '2', '{}'],
      [1, '1', null],
    ])
  })

  test('a policy is stored under its version as first written', async () => {
    const store = await database().connect()
    expect(await store.readPolicy('p1')).toBeNull()
    await store.writePolicy('p1', '{"a":1}', 5)
    await store.writePolicy('p1', '{"a":2}', 6)
    expect(await store.readPolicy('p1')).toBe('{"a":1}')
  })

  test('a setting is the last value written, and gone when deleted', async () => {
    const store = await database().connect()
    expect(await store.readSetting('retention')).toBeNull()
    await store.writeSetting('retention', '{"hours":1}')
    await store.writeSetting('retention', '{"hours":2,"é":"\\u0000"}')
    expect(await store.readSetting('retention')).toBe('{"hours":2,"é":"\\u0000"}')
    await store.writeSetting('retention', null)
    expect(await store.readSetting('retention')).toBeNull()
  })

  test('an enrolment counts once for the first consumer; a new one is refused when the day is used up', async () => {
    const store = await database().connect()
    await store.insertKey(key('acme'))
    await store.insertKey(key('other'))
    const claim = async (chainId: number, consumer: string, atMs: number, sinceMs = 0) => {
      const wanted = { chainId, tokenAddress: address('t'), consumer, atMs, sinceMs, most: 2 }
      return (await store.claimEnrolments([wanted]))[0]
    }
    for (const atMs of [10, 20, 30]) expect(await claim(1, 'acme', atMs)).toBe(true)
    expect(await claim(56, 'acme', 50)).toBe(true)
    expect(await claim(137, 'acme', 60)).toBe(false)
    expect(await claim(1, 'acme', 60)).toBe(true)
    expect(await claim(137, 'other', 60)).toBe(true)
    expect(await claim(10, 'acme', 70, 10)).toBe(true)
  })

  test('enrolments of a batch are claimed together, each counted; those that do not fit are refused', async () => {
    const store = await database().connect()
    await store.insertKey(key('acme'))
    const claim = (name: string) => ({
      chainId: 1,
      tokenAddress: address(name),
      consumer: 'acme',
      atMs: 10,
      sinceMs: 0,
      most: 2,
    })
    expect(await store.claimEnrolments([claim('b')])).toEqual([true])
    const isWithin = await store.claimEnrolments([claim('c'), claim('b'), claim('a'), claim('b')])
    expect(isWithin.filter((_, at) => at === 1 || at === 3)).toEqual([true, true])
    expect([isWithin[0], isWithin[2]].toSorted()).toEqual([false, true])
    expect(await store.claimEnrolments([])).toEqual([])
  })

  test('a token enrolled on request is idle until it is requested again', async () => {
    const store = await database().connect()
    await store.insertKey(key('acme'))
    const [a, b, c] = [address('a'), address('b'), address('c')]
    for (const [tokenAddress, atMs] of [
      [a, 20],
      [b, 10],
    ] as const)
      await store.claimEnrolments([{ chainId: 1, tokenAddress, consumer: 'acme', atMs, sinceMs: 0, most: 9 }])
    expect(await store.readIdle(1, 20)).toEqual([b])
    expect(await store.readIdle(1, 21)).toEqual([b, a])
    expect(await store.readIdle(56, 99)).toEqual([])
    await store.noteAsked([
      { chainId: 1, tokenAddress: b, atMs: 30 },
      { chainId: 1, tokenAddress: a, atMs: 5 },
      { chainId: 1, tokenAddress: c, atMs: 30 },
      { chainId: 56, tokenAddress: a, atMs: 30 },
    ])
    expect(await store.readIdle(1, 30)).toEqual([a])
    expect(await store.readIdle(1, 31)).toEqual([a, b])
  })

  test('two nodes may note the same tokens at once, each in its own order', async () => {
    const [one, other] = [await database().connect(), await database().connect()]
    await one.insertKey(key('acme'))
    const tokens = Array.from({ length: 300 }, (_, at) => address(at + 1))
    for (const tokenAddress of tokens)
      await one.claimEnrolments([
        {
          chainId: 1,
          tokenAddress,
          consumer: 'acme',
          atMs: 1,
          sinceMs: 0,
          most: tokens.length,
        },
      ])
    for (let atMs = 2; atMs < 22; atMs++) {
      const asked = tokens.map(tokenAddress => ({ chainId: 1, tokenAddress, atMs }))
      await Promise.all([one.noteAsked(asked), other.noteAsked(asked.toReversed())])
    }
    expect(await one.readIdle(1, 21)).toEqual([])
    expect(await one.readIdle(1, 22)).toEqual(tokens.toSorted())
  })

  test('several tokens are read at once, in the requested order', async () => {
    const store = await database().connect()
    const [a, b] = [address('a'), address('b')]
    await store.commit(commitOf(1, 1, { tokens: [tokenFacts(a, 'A'), tokenFacts(b, 'B')] }))
    const rows = await store.readTokensOf([
      { chainId: 1, tokenAddress: b },
      { chainId: 2, tokenAddress: a },
      { chainId: 1, tokenAddress: a },
      { chainId: 1, tokenAddress: b },
    ])
    expect(rows.map(row => row?.symbol ?? null)).toEqual(['B', null, 'A', 'B'])
    expect(rows[0]).toEqual(await store.readToken(1, b))
  })
}
