/** Factories of families that are not priced, as viem encodes their calls and answers. */
import { decodeFunctionData, encodeFunctionResult, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { ChainRpc } from '../feed/feed.ts'
import type { ChainConfig, UnpricedFamily } from '../config/config.ts'
import type { Address, Hex } from '../ops/hex.ts'
import { environmentConfig } from '../config/environmentConfig.ts'
import { identifyPool } from './discovery.ts'
import { findUnpriced } from './unpricedFamilies.ts'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const [TOKEN, USD, POOL, FACTORY, EMPTY] = ['22', '11', '99', 'fa', 'ee'].map(address) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
const NONE = address('00')
const ABI = parseAbi([
  'function poolByPair(address, address) view returns (address)',
  'function getPair(address, address, bool) view returns (address)',
  'function getPool(address, address, bool) view returns (address)',
  'function getPool(address, address, int24) view returns (address)',
  'function getPool(address, address, uint24) view returns (address)',
  'function find_pool_for_coins(address, address) view returns (address)',
  'struct Pair { uint16 binStep; address LBPair; bool createdByOwner; bool ignoredForRouting; }',
  'function getAllLBPairs(address, address) view returns (Pair[])',
  'function balanceOf(address) view returns (uint256)',
])
type Asked = { readonly functionName: string; readonly args: readonly unknown[] }

const BLOCK = { number: 1, hash: `0x${'b1'.repeat(32)}`, timeMs: 0 } as const
const { signal } = new AbortController()

const chainWith = (family: UnpricedFamily): ChainConfig => {
  const [chain] = environmentConfig({ ASSAY_RPC_1: 'http://127.0.0.1:1' }, { folder: '.' }).chains
  return {
    ...(chain as ChainConfig),
    stables: [{ tokenAddress: USD, usdFeed: null }],
    routingAssets: [],
    unpricedFactories: [{ deploymentId: 'there', family, factoryAddress: FACTORY }],
  }
}

/** A factory that knows one place of the pair; every other call reverts or names no pool. */
function factoryWith(place: (asked: Asked) => Address | null, holder = POOL): ChainRpc {
  return {
    code: async () => '0x60',
    async call(to, data) {
      const asked = decodeFunctionData({ abi: ABI, data }) as Asked
      if (asked.functionName === 'balanceOf') {
        expect(to).toBe(TOKEN)
        return encodeFunctionResult({
          abi: ABI,
          functionName: 'balanceOf',
          result: asked.args[0] === holder ? 5n : 0n,
        })
      }
      expect([to, asked.args.slice(0, 2)]).toEqual([FACTORY, [USD, TOKEN]])
      const pool = place(asked)
      if (pool === null) return null
      if (asked.functionName !== 'getAllLBPairs')
        return encodeFunctionResult({ abi: ABI, functionName: 'poolByPair', result: pool })
      const pair = { binStep: 20, LBPair: pool, createdByOwner: false, ignoredForRouting: false }
      return encodeFunctionResult({
        abi: ABI,
        functionName: 'getAllLBPairs',
        result: pool === NONE ? [] : [pair],
      })
    },
  }
}

const at =
  (name: string, third?: unknown) =>
  ({ functionName, args }: Asked): Address | null =>
    functionName === name ? (third === undefined || args[2] === third ? POOL : NONE) : null

test.each([
  ['algebra', at('poolByPair')],
  ['pancake_v3', at('getPool', 2500)],
  ['slipstream', at('getPool', 200)],
  ['solidly', at('getPair', true)],
  ['solidly', at('getPool', false)],
  ['liquidity_book', at('getAllLBPairs')],
  ['curve', at('find_pool_for_coins')],
] as const)('R-guard-14: a %s factory is asked for every pool of the pair', async (family, place) => {
  const found = await findUnpriced(factoryWith(place), chainWith(family), TOKEN, BLOCK, signal)
  expect(found).toEqual([{ address: POOL, family, deploymentId: 'there' }])
})

test.each([
  ['names no pool', factoryWith(({ functionName }) => (functionName === 'poolByPair' ? NONE : null))],
  ['reverts', factoryWith(() => null)],
  ['has no code', { code: async () => '0x', call: async () => '0x' } satisfies ChainRpc],
  ['names a pool that holds none of the token', factoryWith(at('poolByPair'), EMPTY)],
] as const)('R-guard-14: a factory that %s names nothing', async (_, rpc) => {
  expect(await findUnpriced(rpc, chainWith('algebra'), TOKEN, BLOCK, signal)).toEqual([])
  expect(
    await findUnpriced(
      factoryWith(({ functionName }) => (functionName === 'getAllLBPairs' ? NONE : null)),
      chainWith('liquidity_book'),
      TOKEN,
      BLOCK,
      signal,
    ),
  ).toEqual([])
})

test('R-guard-14: a pool requested by address whose factory is known by name has its family', async () => {
  const word = (value: Address): Hex => `0x${value.slice(2).padStart(64, '0')}`
  const answers: Readonly<Record<string, Hex>> = {
    '0xc45a0155': word(FACTORY),
    '0x0dfe1681': word(USD),
    '0xd21220a7': word(TOKEN),
  }
  const rpc: ChainRpc = { code: async () => '0x60', call: async (_, data) => answers[data] ?? null }
  expect(await identifyPool(rpc, chainWith('algebra'), POOL, BLOCK, signal)).toEqual({
    kind: 'unsupported',
    factory: FACTORY,
    family: 'algebra',
  })
})
