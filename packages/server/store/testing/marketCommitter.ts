/**
 * A chain of a few thousand pools, committed as a worker commits it, in a process of its own. Its first life makes
 * the market and commits blocks until it is killed; any later one only starts, reports when it is ready, and ends.
 */
import { createState, decodeState, encodeEntity, type EntityKey, entityKeys, step } from '@assay/engine'
import { bringUp } from '../../../world/market/bringUp.ts'
import { createMarket } from '../../../world/market/market.ts'
import { Tape } from '../../../world/market/tape.ts'
import type { PoolFacts, RecordDraft } from '../port.ts'
import { type FullStore, openAsProcess } from './connect.ts'
import { commitOf } from './drafts.ts'

const MARKET = { seed: 11, chainId: 1, tokens: 750, pools: 1_500, blockMs: 450 } as const

async function commitMarket(store: FullStore): Promise<void> {
  const market = createMarket(MARKET)
  const state = createState(market.setup)
  const records: RecordDraft[] = []
  for (const input of bringUp(market)) records.push(...step(state, input).records.map(draftOf))
  const pools = [...state.pools.values()].map(
    ({ address, terms, deploymentId, feePpm, token0, token1 }): PoolFacts => ({
      poolAddress: address,
      family: terms.family,
      deploymentId,
      feePpm: Number(feePpm),
      token0,
      token1,
      createdBlock: null,
    }),
  )
  const entities = [...entityKeys(state)].map(key => ({ key, text: encodeEntity(state, key) }))
  await store.commit(commitOf(1, 1, { records, pools, entities }))
  let at = 1
  for (const input of new Tape(market, { swapsPerBlock: 50 }).inputs()) {
    const result = step(state, input)
    const changed = result.changed.filter(key => !key.startsWith('quote/'))
    await store.commit(
      commitOf(1, ++at, {
        records: result.records.map(draftOf),
        entities: changed.map(key => ({ key, text: encodeEntity(state, key) })),
      }),
    )
    process.stdout.write(`${at}\n`)
  }
}

const draftOf = ({ type, routing, payload }: Omit<RecordDraft, 'quote'>): RecordDraft => ({
  type,
  routing,
  payload: { ...payload },
  quote: null,
})

const store = await openAsProcess(process.argv[2] as string)
const checkpoint = await store.readCheckpoint(1)
if (checkpoint === null) await commitMarket(store)
else {
  const { setup } = createMarket({ ...MARKET, tokens: 20, pools: 50 })
  const state = decodeState(setup, checkpoint.entities as readonly (readonly [EntityKey, string])[])
  const { snapshotSequence } = await store.readPools({
    chainId: 1,
    tokenAddress: null,
    after: null,
    limit: 100,
  })
  process.stdout.write(
    `${JSON.stringify({ step: checkpoint.step, pools: state.pools.size, snapshotSequence })}\n`,
  )
  await store.close()
}
