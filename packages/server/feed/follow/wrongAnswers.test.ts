/**
 * Wrong answers in valid form: at least 300 of them here, of every kind to every feed, 5,000 by `npm run test:reorgs`.
 * None gets through, and the head never passes a block that is not the chain's own, with all its logs.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Random } from '../../../world/random.ts'
import { type FaultProxy, startFaultProxy } from '../../../world/proxy/faultProxy.ts'
import type { VerifiedBlock } from '../feed.ts'
import type { Consumer } from '../testing/consumer.ts'
import { closeAll, endpointsOf, follow, keep } from '../testing/following.ts'
import { type Lies, tellLies } from '../testing/lies.ts'
import {
  EVERY_KIND,
  latest,
  type LocalChain,
  LOGGER,
  mine,
  mineTransactions,
  startLocalChain,
} from '../testing/localChain.ts'
import { expectFinalChain } from '../testing/oracle.ts'
import { Progress } from '../testing/progress.ts'
import { seedOfRun } from '../../../world/seed.ts'

const WANTED = Number(process.env['ASSAY_WRONG_ANSWERS'] ?? 300)
const SEED = seedOfRun()
/** Side by side, since each round of tries costs each of them a back-off. */
const FEEDS = 6

let chain: LocalChain
let fork: LocalChain
beforeAll(async () => {
  const timestamp = Math.floor(Date.now() / 1000) - 1000
  ;[chain, fork] = await Promise.all([startLocalChain({ timestamp }), startLocalChain({ timestamp })])
  await fork.rpc('anvil_setCoinbase', LOGGER)
  for (let n = 0; n < 20; n++) await mineTransactions(fork, [{ to: LOGGER }, { to: LOGGER }])
  await mine(chain, 2)
})
afterAll(async () => {
  await Promise.all([chain.close(), fork.close()])
})
afterEach(closeAll)

const proxied = async (): Promise<FaultProxy> => keep(await startFaultProxy({ url: chain.anvil.url }))
const withoutReceipts = (proxy: FaultProxy): void => {
  proxy.add({
    method: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
    fault: { kind: 'error', code: -32_601, message: 'Method not found' },
  })
}

type Deceived = { readonly consumer: Consumer; readonly lies: Lies; readonly isBare: boolean }

/** A feed with a lying endpoint: its only one, or one of two without receipts. */
async function deceived(n: number): Promise<Deceived> {
  const random = new Random(SEED, `liar ${n}`)
  const liar = await proxied()
  const urls = [liar.url]
  const isBare = n % 2 === 1
  if (isBare) {
    withoutReceipts(liar)
    const honest = await proxied()
    withoutReceipts(honest)
    urls.push(honest.url)
  }
  const consumer = await follow(chain, { config: { endpoints: endpointsOf(...urls) } })
  await consumer.untilTip(await latest(chain))
  return { consumer, isBare, lies: tellLies(liar, random, 0.35, fork.anvil.url) }
}

const givenBlocks = (consumer: Consumer): readonly VerifiedBlock[] =>
  consumer.items.flatMap(item =>
    item.kind === 'block' ? [item.block] : item.kind === 'reorg' ? item.blocks : [],
  )

describe('valid but wrong responses', () => {
  it(`none of ${WANTED} is accepted`, { timeout: 900_000 + WANTED * 120 }, async () => {
    const about = `seed ${SEED}`
    const feeds = await Promise.all(Array.from({ length: FEEDS }, (_, n) => deceived(n)))
    const liesSoFar = (): number => feeds.reduce((sum, { lies }) => sum + lies.total(), 0)
    const isEveryKindTold = (): boolean =>
      feeds.every(({ lies }) => Object.values(lies.counts()).every(count => count > 0))
    const random = new Random(SEED, 'transactions')
    const progress = new Progress('wrong answers', WANTED)
    while (liesSoFar() < WANTED || !isEveryKindTold()) {
      progress.reached(liesSoFar())
      // Some blocks more than are fetched at once, so that those in the middle are asked for by number.
      for (let n = 0; n < 10; n++)
        await mineTransactions(chain, EVERY_KIND.slice(0, random.integer(0, EVERY_KIND.length)))
      const goal = liesSoFar() + 60
      const head = await latest(chain)
      await expect
        .poll(() => liesSoFar() >= goal || feeds.every(({ consumer }) => consumer.tip?.hash === head.hash), {
          timeout: 60_000,
          interval: 20,
        })
        .toBe(true)
    }
    for (const { lies } of feeds) lies.isOn = false
    const head = await latest(chain)
    for (const { consumer, lies, isBare } of feeds) {
      await consumer.until(`the head, ${about}`, ({ tip }) => tip?.hash === head.hash, 60_000)
      await expectFinalChain(consumer, chain, { about })
      // Not one block was given that had to be taken back.
      expect(consumer.of('reorg'), about).toEqual([])
      expect(givenBlocks(consumer), about).toHaveLength(consumer.chain.length)
      const proofs = new Set(consumer.chain.slice(1).map(({ proof }) => proof))
      // Of two without receipts the honest one may be left alone, when the other has just been refused.
      if (isBare) expect(proofs, about).toContain('digest')
      else expect([...proofs], about).toEqual(['receipts'])
      expect(
        Math.min(...Object.values(lies.counts())),
        `${about} ${JSON.stringify(lies.counts())}`,
      ).toBeGreaterThan(0)
    }
    expect(liesSoFar(), about).toBeGreaterThanOrEqual(WANTED)
  })
})
