/** What readers ask beside rows, on both stores: tokens by what they call themselves, and when pools were last verified. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FullStore, type TestDatabase } from './testing/connect.ts'
import { address, commitOf, poolFacts, poolUpsert, tokenFacts } from './testing/drafts.ts'
import { bothStores } from './testing/bothStores.ts'

const kinds = bothStores()

describe.each(['sqlite', 'postgres'] as const)('%s', kind => {
  let database: TestDatabase
  let store: FullStore
  beforeEach(async () => {
    database = await kinds[kind]()
    store = await database.connect()
  })
  afterEach(() => database.dispose())

  test('tokens are found by symbol or name in any case, the deepest first', async () => {
    const [shallow, deep, named, other] = ['a', 'b', 'c', 'd'].map(address) as [
      string,
      string,
      string,
      string,
    ]
    const pools = [poolFacts('p1', shallow, address('usd')), poolFacts('p2', deep, address('usd'))] as const
    const records = pools.map((pool, at) => {
      const draft = poolUpsert({ chainId: 1, recordId: `r${at}` }, pool, at)
      const depth = { effective_microusd: at === 0 ? '5' : '5000000000' }
      return { ...draft, payload: { ...draft.payload, depth } }
    })
    await store.commit(
      commitOf(1, 1, {
        records,
        pools,
        tokens: [
          tokenFacts(shallow, 'PEPE'),
          tokenFacts(deep, 'pepe2'),
          { ...tokenFacts(named, 'XX'), name: 'The Pepe Fund' },
          { ...tokenFacts(other, 'PE_E'), name: '100%' },
        ],
      }),
    )
    const found = async (text: string, limit = 10) =>
      (await store.searchTokens(text, limit)).map(({ tokenAddress }) => tokenAddress)
    expect(await found('pepe')).toEqual([deep, shallow, named])
    expect(await found('PEPE', 1)).toEqual([deep])
    // No sign of a pattern means anything but itself.
    expect(await found('pe_e')).toEqual([other])
    expect(await found('0%')).toEqual([other])
  })

  test('pools were verified when their entities say so, and since then by their chain’s proven runs', async () => {
    const pool = address('pool')
    const proven = [{ first: 5, last: 90, lastMs: 40_000 }]
    const seen = address('seen')
    const since = { verifiedNumber: 51, verifiedMs: 11_000 }
    const back = address('looked-back')
    const past = { kind: 'READ', readMs: 9500 }
    const entities = [
      {
        key: `pool/${seen}`,
        text: JSON.stringify({ createdMs: 8000, state: { ...since, trackedSinceMs: 9000, past: null } }),
      },
      {
        key: `pool/${back}`,
        text: JSON.stringify({ createdMs: null, state: { ...since, trackedSinceMs: 7000, past } }),
      },
      { key: 'chain', text: JSON.stringify({ tip: null, proven, policy: {} }) },
      {
        key: `pool/${pool}`,
        text: JSON.stringify({
          createdMs: null,
          state: { verifiedNumber: 50, verifiedMs: 10_000, past: { createdMs: 7 } },
        }),
      },
    ]
    expect(await store.readVerified(1, [pool])).toEqual({ proven: null, pools: [] })
    await store.commit(commitOf(1, 1, { entities }))
    const { proven: text, pools } = await store.readVerified(1, [pool, address('none')])
    expect(JSON.parse(text ?? '')).toEqual(proven)
    expect(pools).toEqual([
      { poolAddress: pool, verifiedNumber: 50, verifiedMs: 10_000, followedSinceMs: null, createdMs: null },
    ])
    expect((await store.readVerified(1, [seen])).pools).toEqual([
      { poolAddress: seen, ...since, followedSinceMs: 9000, createdMs: 8000 },
    ])
    // A look-back reads what went before; its events are not stored.
    expect((await store.readVerified(1, [back])).pools).toEqual([
      { poolAddress: back, ...since, followedSinceMs: 9500, createdMs: null },
    ])
  })
})
