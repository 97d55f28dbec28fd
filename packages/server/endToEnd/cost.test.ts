/**
 * GET /v1/cost on a running service: an adversary who carries out its plans on the chain's own contracts, and what is published
 * then. The chain begins 45 minutes ago. A plan that must be held is carried out in a past that replaces the one in which it was
 * asked for, as nothing had happened in it.
 */
import type { Cost, TokenQuote } from '@assay/sdk'
import { trader } from '@assay/world'
import { parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Answer } from './testing/answer.ts'
import { CHAIN_ID, planWith, THIN } from './testing/plan.ts'
import { type Hex, startTestChain, type TestChain } from './testing/testChain.ts'
import { startTestService, type TestService } from './testing/testService.ts'

const V2_FEE = { numerator: 997n, denominator: 1000n }
const MINUTE_S = 60
const AGE_S = 45 * MINUTE_S
const BLOCK_S = 12
/** Between the push and now: longer than any plan must be held, with time to start a service. */
const HELD_S = 20 * BLOCK_S

type Move = Cost['moves'][number]
type Push = Move['plan'][number]

const time = { nowS: Math.floor(Date.now() / 1000) - AGE_S }
let chain: TestChain
let cost: Cost
/** Before the held blocks. */
let past: Hex
let live: TestService

beforeAll(async () => {
  chain = await startTestChain(
    { ...planWith(THIN), blockTimeS: BLOCK_S },
    { clock: { hurry: 1, nowS: () => time.nowS }, keptBlocks: 600 },
  )
  await mineUntil(nowS() - HELD_S - MINUTE_S, MINUTE_S)
  past = await chain.snapshot()
  await mineUntil(nowS() - 1, BLOCK_S)
  live = await startTestService(chain, { tokens: ['LARK', 'MOTH', 'THIN'] })
  await live.untilWell()
  const client = await live.client()
  cost = (await client.fetchCost({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })) as Cost
})
afterAll(async () => {
  await live?.close()
  await chain?.close()
})

const nowS = (): number => Math.floor(Date.now() / 1000)

async function mineUntil(untilS: number, everyS: number): Promise<void> {
  const { client } = chain.world
  for (;;) {
    const { timestamp } = await client.getBlock({ blockTag: 'latest' })
    const nextS = Number(timestamp) + everyS
    if (nextS > untilS) return
    await client.setNextBlockTimestamp({ timestamp: BigInt(nextS) })
    await chain.mine()
  }
}

const moveOf = (direction: string, bps: number): Move =>
  cost.moves.find(each => each.direction === direction && each.bps === bps) as Move

const isV3 = ({ pool_address }: Push): boolean => pool_address === chain.pool('uniswap-v3', 'WETH', 'LARK')

const swap = (push: Push, isBack: boolean, amount: string | bigint): Hex => {
  const zeroForOne = push.from < push.to !== isBack
  return isV3(push)
    ? trader.swapV3(push.pool_address, zeroForOne, BigInt(amount))
    : trader.swapExactInV2(push.pool_address, zeroForOne, BigInt(amount), V2_FEE)
}

const pushes = ({ plan }: Move): Hex[] =>
  plan.flatMap(push => push.swaps.map(({ amount_in }) => swap(push, false, amount_in)))

const sum = (amounts: readonly string[]): bigint => amounts.reduce((total, each) => total + BigInt(each), 0n)

const goBack = ({ plan }: Move): Hex[] =>
  plan.map(push => swap(push, true, sum(push.swaps.map(({ amount_out }) => amount_out))))

/** Dollars of the adversary's balances. */
async function wealth(): Promise<number> {
  const held = await Promise.all(
    [chain.token('LARK'), chain.token('WETH'), chain.token('USDC')].map(address =>
      chain.world.client.readContract({
        address,
        abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
        functionName: 'balanceOf',
        args: [chain.world.seeded.trader],
      }),
    ),
  )
  const start = 1n << 255n
  const [lark, ether, usdc] = held.map(balance => balance - start) as [bigint, bigint, bigint]
  return (Number(lark) / 1e18) * LARK_USD + (Number(ether) / 1e18) * 2000 + Number(usdc) / 1e6
}

/** The fee-free ratio of every pool of the plan at the start. */
const LARK_USD = 1.25

const quoteOf = async (service: TestService): Promise<TokenQuote> =>
  (await service.client()).quoteToken({ chain_id: CHAIN_ID, token_address: chain.token('LARK') })

function expectMoved(quote: TokenQuote, { direction, bps }: Move): void {
  if (quote.state !== 'PRICED') throw new Error(`the token is ${quote.state}`)
  const share = Number(quote.price_usd.display) / Number(cost.price_usd.display)
  if (direction === 'UP') expect(share).toBeGreaterThanOrEqual(1 + bps / 10_000)
  else expect(share).toBeLessThanOrEqual(1 - bps / 10_000)
  expect(quote.confidence.score).toBeGreaterThanOrEqual(4)
}

/** Within 5% of what was stated. */
function expectAbout(actual: number, stated: string | null): void {
  expect(actual).toBeGreaterThan(Number(stated) * 0.95)
  expect(actual).toBeLessThan(Number(stated) * 1.05)
}

const costAnswer = async (address: string, query = ''): Promise<Answer> =>
  ask(`${live.url}/v1/cost/${CHAIN_ID}/${address}${query}`, { key: await live.key() })

describe('GET /v1/cost', () => {
  it.each([
    ['UP', 100],
    ['DOWN', 100],
  ] as const)(
    'R-cost-4: an adversary moves the published price %s by %i bps at the stated loss',
    async (direction, bps) => {
      await live.untilWell()
      const move = moveOf(direction, bps)
      expect([move.reason, move.hold_ms]).toEqual([null, 0])
      const before = await wealth()
      const undo = await chain.snapshot()
      await live.untilTip(await chain.run(...pushes(move)))
      await live.untilWell()
      expectMoved(await quoteOf(live), move)
      await chain.run(...goBack(move))
      expectAbout(before - (await wealth()), move.loss_usd_quiet)
      await chain.revert(undo)
      await live.untilWell()
    },
  )

  it('R-cost-5: the amount that others trade back is lost as stated', async () => {
    await live.untilWell()
    const move = moveOf('UP', 100)
    const before = await wealth()
    const undo = await chain.snapshot()
    await live.untilTip(await chain.run(...pushes(move)))
    // Others bring the pools back: the adversary's assets are then worth what they were before.
    expectAbout(before - (await wealth()), move.loss_usd_arbitraged)
    await chain.revert(undo)
    await live.untilWell()
  })

  it('R-cost-6: a token whose pool disappears in between is 422 NO_ROUTE, for both answers', async () => {
    await live.untilWell()
    const undo = await chain.snapshot()
    const pair = chain.pool('uniswap-v2', 'USDT', 'MOTH')
    expect((await costAnswer(chain.token('MOTH'))).status).toBe(200)
    await live.untilTip(await chain.run(await chain.pullV2(pair, 1000n)))
    for (const path of ['cost', 'exit']) {
      const url = `${live.url}/v1/${path}/${CHAIN_ID}/${chain.token('MOTH')}`
      const { status, body } = await ask(url, { key: await live.key() })
      expect([path, status, body]).toMatchObject([path, 422, { code: 'NO_ROUTE', detail: 'NO_ROUTE' }])
    }
    await chain.revert(undo)
    await live.untilWell()
  })

  it('R-cost-6: a stable is 422 NOT_SUPPORTED, a token without a price 422 NO_ROUTE, an unknown parameter 400', async () => {
    expect(await costAnswer(chain.token('USDC'))).toMatchObject({
      status: 422,
      body: { code: 'NOT_SUPPORTED', detail: 'STABLE' },
    })
    expect(await costAnswer(chain.token('THIN'))).toMatchObject({
      status: 422,
      body: { code: 'NO_ROUTE', detail: 'NO_ROUTE' },
    })
    expect(await costAnswer(chain.token('LARK'), '?usd=100')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_PARAMS', message: expect.stringMatching(/unknown parameter/) },
    })
    expect(await costAnswer('0x12')).toMatchObject({ status: 400, body: { code: 'INVALID_ADDRESS' } })
    expect((await costAnswer(`0x${'d8'.repeat(20)}`)).status).toBe(202)
  })
})

/** These take the chain back, so they come last, each with a service of its own. */
describe('GET /v1/cost, plans that are held', () => {
  beforeAll(() => live.close())

  it.each([
    ['UP', 1000],
    ['DOWN', 500],
  ] as const)(
    'R-cost-3: held in an honest chain, %s %i is published at the stated loss',
    async (direction, bps) => {
      const move = moveOf(direction, bps)
      expect(Number(move.hold_ms)).toBeGreaterThan(0)
      await chain.world.client.revert({ id: past })
      past = await chain.snapshot()
      const before = await wealth()
      await mineUntil(nowS() - Number(move.hold_ms) / 1000 - 3 * BLOCK_S, BLOCK_S)
      await chain.run(...pushes(move))
      await mineUntil(nowS() - 1, BLOCK_S)
      const service = await startTestService(chain, { tokens: ['LARK'], name: `held-${direction}` })
      await service.untilWell()
      expectMoved(await quoteOf(service), move)
      await chain.run(...goBack(move))
      expectAbout(before - (await wealth()), move.loss_usd_quiet)
      await service.close()
    },
  )

  it('R-cost-5: while a bot restores the pools in every block, it never is', async () => {
    const move = moveOf('UP', 1000)
    expect([move.loss_usd_arbitraged, move.arbitraged_reason]).toEqual([null, 'NOT_BELIEVED'])
    await chain.world.client.revert({ id: past })
    await mineUntil(nowS() - Number(move.hold_ms) / 1000 - 3 * BLOCK_S, BLOCK_S)
    await chain.run(...pushes(move))
    const { client } = chain.world
    for (;;) {
      const { timestamp } = await client.getBlock({ blockTag: 'latest' })
      if (Number(timestamp) + BLOCK_S > nowS()) break
      await client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(BLOCK_S) })
      await chain.run(...goBack(move), ...pushes(move))
    }
    const service = await startTestService(chain, { tokens: ['LARK'], name: 'arbitraged' })
    await service.untilWell()
    const quote = await quoteOf(service)
    expect(quote.state === 'PRICED' && quote.confidence.score >= 4).toBe(false)
    await service.close()
  })
})
