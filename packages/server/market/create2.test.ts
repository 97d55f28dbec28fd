/** Addresses of real pools, derived: the factory, the tokens and the init code hash are all there is to it. */
import { expect, test } from 'vitest'
import type { ConfigOf } from './family.ts'
import { v2 as pairs } from './v2/v2.ts'
import { v3 as tiers } from './v3/v3.ts'

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48'
const WETH = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
const v3: ConfigOf<'amm_v3'> = {
  deploymentId: 'uniswap-v3',
  family: 'amm_v3',
  factoryAddress: '0x1f98431c8ad98523631ae4a59f267346ea31f984',
  deploymentBlock: 12_369_621,
  initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
  feeTiers: [500],
}
const v2: ConfigOf<'amm_v2'> = {
  deploymentId: 'uniswap-v2',
  family: 'amm_v2',
  factoryAddress: '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f',
  deploymentBlock: 10_000_834,
  initCodeHash: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  fee: { numerator: 997, denominator: 1000 },
}

test('the v3 salt is padded: USDC/WETH 0.05% on Ethereum', () => {
  expect(tiers.derived(v3, [USDC, WETH], 500n)).toBe('0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640')
})

test('the v2 salt is packed: USDC/WETH on Ethereum', () => {
  expect(pairs.derived(v2, [USDC, WETH], 0n)).toBe('0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc')
})

test('without an init code hash nothing can be derived', () => {
  expect(pairs.derived({ ...v2, initCodeHash: null }, [USDC, WETH], 0n)).toBeNull()
})
