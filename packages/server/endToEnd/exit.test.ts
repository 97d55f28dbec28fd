/** GET /v1/exit on a running service: its plans carried out on the chain's own contracts, and what it refuses. */
import { trader } from '@assay/world'
import { parseAbi } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { ask, type Answer } from './testing/answer.ts'
import { CHAIN_ID, planWith, THIN } from './testing/plan.ts'
import { chain, serveChain, service } from './testing/servedChain.ts'
import type { Hex } from './testing/testChain.ts'

const V2_FEE = { numerator: 997n, denominator: 1000n }

type Swap = {
  readonly pool_address: Hex
  readonly from: Hex
  readonly to: Hex
  readonly amount_in: string
  readonly amount_out: string
}
type Sale = {
  readonly amount: string
  readonly reason: string | null
  readonly proceeds: readonly { readonly token_address: Hex; readonly amount: string }[]
  readonly proceeds_microusd: string
  readonly swaps: readonly Swap[]
}
type Exit = {
  readonly sales: readonly Sale[]
  readonly largest: Readonly<Record<string, { amount: string }>>
}

serveChain(planWith(THIN), { tokens: ['LARK', 'MOTH', 'THIN'] })
beforeEach(() => service.untilWell())

const exit = async (address: string, query = ''): Promise<Answer> =>
  ask(`${service.url}/v1/exit/${CHAIN_ID}/${address}${query}`, { key: await service.key() })

const isV3 = ({ pool_address }: Swap): boolean => pool_address === chain.pool('uniswap-v3', 'WETH', 'LARK')

/** The swaps of a plan as calls of the trader's. */
const callsOf = (swaps: readonly Swap[]): Hex[] =>
  swaps.map(swap => {
    const zeroForOne = swap.from < swap.to
    return isV3(swap)
      ? trader.swapV3(swap.pool_address, zeroForOne, BigInt(swap.amount_in))
      : trader.swapExactInV2(swap.pool_address, zeroForOne, BigInt(swap.amount_in), V2_FEE)
  })

const balanceOf = (of: Hex): Promise<bigint> =>
  chain.world.client.readContract({
    address: of,
    abi: parseAbi(['function balanceOf(address) view returns (uint256)']),
    functionName: 'balanceOf',
    args: [chain.world.seeded.trader],
  })

describe('GET /v1/exit', () => {
  it.each(['1000', '250000'])(
    'R-exit-2: executed, the plan of a sale of %s dollars pays exactly the stated amount',
    async usd => {
      const answer = await exit(chain.token('LARK'), `?usd=${usd}`)
      expect(answer.status).toBe(200)
      const [sale] = (answer.body as Exit).sales as [Sale]
      const tokens = [chain.token('LARK'), chain.token('WETH'), chain.token('USDC')]
      const before = await Promise.all(tokens.map(balanceOf))
      const undo = await chain.snapshot()
      await chain.run(...callsOf(sale.swaps))
      const after = await Promise.all(tokens.map(balanceOf))
      await chain.revert(undo)
      expect(after.map((balance, at) => balance - (before[at] as bigint))).toEqual([
        -BigInt(sale.amount),
        0n,
        BigInt(sale.proceeds[0]?.amount as string),
      ])
      expect(sale.proceeds_microusd).toBe(sale.proceeds[0]?.amount)
    },
  )

  it('R-exit-6: answers sizes in units, at most 8, with reasons for those that no route can take', async () => {
    const { status, body } = await exit(chain.token('LARK'), `?amount=1,${10n ** 18n},${10n ** 60n}`)
    expect(status).toBe(200)
    const { sales, largest } = body as Exit
    expect(sales.map(({ reason }) => reason)).toEqual(['TOO_SMALL', null, 'LIQUIDITY_EXCEEDED'])
    expect(sales.map(({ proceeds_microusd }) => proceeds_microusd === null)).toEqual([true, false, true])
    expect(BigInt(largest['bps_500']?.amount as string)).toBeGreaterThan(
      BigInt(largest['bps_100']?.amount as string),
    )
  })

  it.each([
    ['?usd=0', /size "0"/],
    ['?usd=-1', /size "-1"/],
    ['?usd=1e309', /size "1e309"/],
    ['?usd=', /size ""/],
    ['?usd=0.0000001', /at most 6 decimals/],
    ['?amount=1.5', /whole number/],
    [`?amount=${2n ** 256n}`, /below 2\^256/],
    ['?usd=1&amount=1', /one of them/],
    [`?usd=${Array.from({ length: 2000 }, () => '1').join(',')}`, /2000 sizes; expected at most 8/],
    ['?size=1', /unknown parameter/],
  ])('R-exit-6: %.40s is 400 with the fault', async (query, message) => {
    const { status, body } = await exit(chain.token('LARK'), query)
    expect([status, body]).toEqual([
      400,
      { code: 'INVALID_PARAMS', message: expect.stringMatching(message), detail: null },
    ])
  })

  it('R-exit-6: 5,000 sizes exceed the length of a URL, 414 with the limit', async () => {
    const sizes = Array.from({ length: 5000 }, () => '1').join(',')
    expect(await exit(chain.token('LARK'), `?usd=${sizes}`)).toMatchObject({ status: 414 })
  })

  it('R-exit-6: a stable is 422 NOT_SUPPORTED, a token without a price 422 NO_ROUTE with its reason', async () => {
    const stable = await exit(chain.token('USDC'))
    expect([stable.status, stable.body]).toMatchObject([422, { code: 'NOT_SUPPORTED', detail: 'STABLE' }])
    const thin = await exit(chain.token('THIN'))
    expect([thin.status, thin.body]).toMatchObject([422, { code: 'NO_ROUTE', detail: 'NO_ROUTE' }])
  })

  it('R-exit-6: an unknown token is 202 first, an invalid address 400, an unserved chain 404', async () => {
    expect((await exit(`0x${'d7'.repeat(20)}`)).status).toBe(202)
    expect((await exit('0x12')).body).toMatchObject({ code: 'INVALID_ADDRESS' })
    const elsewhere = await ask(`${service.url}/v1/exit/77/${chain.token('LARK')}`, {
      key: await service.key(),
    })
    expect([elsewhere.status, elsewhere.body]).toMatchObject([404, { code: 'UNSUPPORTED_CHAIN' }])
  })
})
