import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../ops/clock.ts'
import { type ChainConfig, Secret } from '../ops/config.ts'
import type { Resume } from './feed.ts'
import { openFeed } from './openFeed.ts'
import { Consumer } from './testing/consumer.ts'
import {
  blockAt,
  latest,
  type LocalChain,
  LOGGER,
  LOGS_PER_CALL,
  mine,
  mineTransactions,
  reorg,
  REVERTER,
  startLocalChain,
} from './testing/localChain.ts'

let chain: LocalChain
beforeAll(async () => {
  chain = await startLocalChain()
  await mine(chain, 5)
})
afterAll(() => chain.close())

async function follow(
  chain: LocalChain,
  config: Partial<ChainConfig> = {},
  resume: Resume | null = null,
): Promise<Consumer> {
  return new Consumer(await openFeed({ chain: chain.config(config), clock: systemClock, resume }))
}

describe('smoke', () => {
  it.each(['http', 'ws'])('follows over %s', async kind => {
    const url = kind === 'http' ? chain.anvil.url : chain.anvil.wsUrl
    const consumer = await follow(chain, { endpoints: [{ name: 'n', url: new Secret(url) }] })
    await consumer.untilTip(await latest(chain))
    await mineTransactions(chain, [
      { to: LOGGER },
      { to: LOGGER, type: '0x0', gasPrice: '0x77359400' },
      { to: REVERTER },
      { to: LOGGER, type: '0x1', gasPrice: '0x77359400', accessList: [{ address: LOGGER, storageKeys: [] }] },
    ])
    await consumer.untilTip(await latest(chain))
    console.log(consumer.tip?.proof, consumer.tip?.logs.length, LOGS_PER_CALL, REVERTER, blockAt.name)
    await mine(chain, 20)
    await consumer.untilTip(await latest(chain))
    await reorg(chain, 3)
    await consumer.untilTip(await latest(chain))
    console.log(consumer.items.map(i => i.kind).join(), JSON.stringify(consumer.health))
    await consumer.close()
  })
})
