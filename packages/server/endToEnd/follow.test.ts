import type { Follower, FollowedToken, FollowStatus, Health } from '@assay/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_ID } from './testing/plan.ts'
import { idOf } from './testing/record.ts'
import { chain, client, serveChain, service } from './testing/servedChain.ts'
import { until } from './testing/until.ts'

serveChain()
beforeEach(() => service.untilWell())

const lark = () => idOf(chain.token('LARK'))
const sellLark = async () =>
  service.untilTip(await chain.run(chain.sellV2(chain.pool('uniswap-v2', 'USDC', 'LARK'), 'LARK', 900)))
const sellMoth = async () => service.untilTip(await chain.run(chain.sellV2(mothPool(), 'MOTH', 400)))
const mothPool = () => {
  const found = chain.world.plan.pools.find(
    ({ pair, deployment }) => pair.includes('MOTH') && deployment.includes('v2'),
  )
  if (found === undefined) throw new Error('no v2 pool of MOTH')
  return chain.pool(found.deployment, ...found.pair)
}

/** Runs it beside the test; `stop` ends it and gives back how it ended. */
function begin(follower: Follower) {
  const heard = {
    statuses: [] as FollowStatus[],
    tokens: [] as FollowedToken[],
    pools: new Set<string>(),
    swaps: new Set<string>(),
    healths: [] as Health[],
  }
  const running = follower.run({
    onStatus: status => heard.statuses.push(status),
    onToken: token => heard.tokens.push(token),
    onPool: poolId => heard.pools.add(poolId),
    onSwap: ({ pool_id }) => heard.swaps.add(pool_id),
    onHealth: health => heard.healths.push(health),
  })
  return {
    heard,
    stop: async () => {
      follower.close()
      await running
    },
  }
}

describe('follow on a running service', () => {
  it('by token: its own price and its pools, nothing else, by callbacks; health in any case', async () => {
    const follower = client.follow({ chain_id: CHAIN_ID, token: chain.token('LARK') })
    const { heard, stop } = begin(follower)
    await until('its price received', async () => {
      await sellMoth()
      await sellLark()
      return heard.tokens.length > 1 && heard.healths.length > 0 && heard.swaps.size > 0
    })
    expect(new Set(heard.tokens.map(({ token_id }) => token_id))).toEqual(new Set([lark()]))
    expect(heard.tokens.at(-1)?.price?.state).toBe('PRICED')
    expect([...follower.tokens()].map(({ token_id }) => token_id)).toEqual([lark()])
    const { pools } = await client.fetchPools({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })
    expect([...follower.pools()].map(each => each.pool_id).sort()).toEqual(
      pools.map(each => each.pool_id).sort(),
    )
    for (const poolId of [...heard.pools, ...heard.swaps])
      expect(pools.map(each => each.pool_id)).toContain(poolId)
    // Its state equals the service's.
    const quote = await client.quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })
    await until('the same price', () => {
      const held = follower.token(lark())?.price
      return (
        held?.state === 'PRICED' &&
        quote.state === 'PRICED' &&
        held.price_usd.display === quote.price_usd.display
      )
    })
    expect(heard.statuses.slice(0, 3)).toEqual(['resetting', 'replaying', 'live'])
    await stop()
    expect(heard.statuses.at(-1)).toBe('closed')
  })

  it('by pool: that pool and both its tokens', async () => {
    const pool = chain.pool('uniswap-v2', 'USDC', 'LARK')
    const follower = client.follow({ chain_id: CHAIN_ID, pool })
    const { heard, stop } = begin(follower)
    await until('the pool, its swap and its token received', async () => {
      await sellMoth()
      await sellLark()
      const isTokenHeard = heard.tokens.some(({ token_id }) => token_id === lark())
      return heard.pools.size > 0 && heard.swaps.size > 0 && isTokenHeard
    })
    expect([...heard.pools]).toEqual([idOf(pool)])
    expect([...heard.swaps]).toEqual([idOf(pool)])
    expect([...follower.pools()].map(each => each.pool_id)).toEqual([idOf(pool)])
    expect([...follower.tokens()].map(each => each.token_id).sort()).toEqual(
      [lark(), idOf(chain.token('USDC'))].sort(),
    )
    await stop()
  })

  it('as an iterator too; an exception in a callback ends it', async () => {
    const follower = client.follow({ chain_id: CHAIN_ID, token: [lark()] })
    let selling = Promise.resolve()
    for await (const event of follower) {
      if (event.kind === 'status' && event.status === 'replaying') selling = sellLark()
      if (event.kind === 'record' && event.record.type === 'PRICE_UPSERT') break
    }
    await selling
    expect(follower.status).toBe('closed')
    const failing = client.follow({ chain_id: CHAIN_ID })
    const onStatus = () => {
      throw new Error('no more')
    }
    await expect(failing.run({ onStatus })).rejects.toThrow('no more')
    expect(failing.status).toBe('closed')
  })
})
