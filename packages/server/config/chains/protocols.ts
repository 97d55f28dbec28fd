/**
 * Deployments as entries of a chain's table: values that a protocol shares across chains (family, init code hash, fees)
 * are here once, others (factory, block) are arguments. `deployment_block: null` means unknown: a back-fill then begins
 * with the chain.
 */
const INIT_CODE = {
  UNISWAP_V3: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
  UNISWAP_V2: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  SUSHI_V2: '0xe18a34eb0e04b04f7a0ac29a6e80748dca96319b42c54d679cb821dca90c6303',
  JOE_V1: '0x0bbca9af0511ad1a1da383135cf3a8d2ac620e549ef9f6ae3a4c33c2fed0af91',
  PANCAKE_V2_BSC: '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5',
  /** On every chain but 56. */
  PANCAKE_V2: '0x57224589c67f3f30a6b0d7a1b54cf3153ab84563bc609ef41dfb34f8b2974d2d',
  PANCAKE_V3: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
  ALGEBRA_V1: '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4',
} as const

/** PancakeSwap v3: the factory, and the contract that deploys its pools. The same on every chain. */
const PANCAKE_V3 = {
  factory: '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865',
  deployer: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
} as const
const QUICKSWAP_V3 = {
  factory: '0x411b0fAcC3489691f28ad58c47006AF5E3Ab3A28',
  deployer: '0x2D98E2FA9da15aa6dC9581AB097Ced7af697CB92',
} as const

/**
 * Factories that are listed here as their projects publish them: known pools prove the contract that deploys their
 * pools, but their own addresses follow from nothing. Before a start they are checked for that contract and for pools
 * of the chain's anchors, and refused if they return others; a pool of theirs counts only if its address follows from
 * that contract.
 */
export const UNPROVEN_FACTORIES: ReadonlySet<string> = new Set(
  [PANCAKE_V3.factory, QUICKSWAP_V3.factory].map(address => address.toLowerCase()),
)

type Hex = `0x${string}`
type Entry = Readonly<Record<string, unknown>>

const FEE_30 = { numerator: 997, denominator: 1000 } as const
const FEE_25 = { numerator: 9975, denominator: 10_000 } as const

const pairs =
  (deployment_id: string, init_code_hash: Hex, fee: Entry) =>
  (factory_address: Hex, deployment_block: number | null): Entry => ({
    deployment_id,
    family: 'amm_v2',
    factory_address,
    deployment_block,
    init_code_hash,
    fee,
  })

export const uniswapV2 = pairs('uniswap-v2', INIT_CODE.UNISWAP_V2, FEE_30)
export const quickswapV2 = pairs('quickswap-v2', INIT_CODE.UNISWAP_V2, FEE_30)
export const sushiV2 = pairs('sushi-v2', INIT_CODE.SUSHI_V2, FEE_30)
export const joeV1 = pairs('joe-v1', INIT_CODE.JOE_V1, FEE_30)
export const pancakeV2 = pairs('pancake-v2', INIT_CODE.PANCAKE_V2, FEE_25)
export const pancakeV2OfBsc = pairs('pancake-v2', INIT_CODE.PANCAKE_V2_BSC, FEE_25)

export const uniswapV3 = (factory_address: Hex, deployment_block: number): Entry => ({
  deployment_id: 'uniswap-v3',
  family: 'amm_v3',
  factory_address,
  deployment_block,
  init_code_hash: INIT_CODE.UNISWAP_V3,
  fee_tiers: [100, 500, 3000, 10_000],
})

/** The manager is the published code with an owner as its argument: a test derives the address of each. */
export const uniswapV4 = (manager: Hex, deployment_block: number): Entry => ({
  deployment_id: 'uniswap-v4',
  family: 'amm_v4',
  factory_address: manager,
  deployment_block,
})

export const pancakeV3 = (): Entry => ({
  deployment_id: 'pancake-v3',
  family: 'amm_v3_pancake',
  factory_address: PANCAKE_V3.factory,
  deployer_address: PANCAKE_V3.deployer,
  deployment_block: null,
  init_code_hash: INIT_CODE.PANCAKE_V3,
  fee_tiers: [100, 500, 2500, 10_000],
})

export const quickswapV3 = (): Entry => ({
  deployment_id: 'quickswap-v3',
  family: 'amm_algebra_v1',
  factory_address: QUICKSWAP_V3.factory,
  deployer_address: QUICKSWAP_V3.deployer,
  deployment_block: null,
  init_code_hash: INIT_CODE.ALGEBRA_V1,
})

/** A factory of a family that is recognised but not priced. */
export const unpriced = (deployment_id: string, family: string, factory_address: Hex): Entry => ({
  deployment_id,
  family,
  factory_address,
})

/** A stable with its dollar feed, which may be late by half an hour. */
export const stable = (token_address: Hex, feed: Hex, heartbeat_s: number): Entry => ({
  token_address,
  usd_feed: { address: feed, heartbeat_s, grace_s: 1800 },
})

/** A routing asset whose price from pools is compared with a feed. */
export const asset = (token_address: Hex, feed: Hex, heartbeat_s: number): Entry => ({
  token_address,
  usd_feed: { address: feed, heartbeat_s, grace_s: 300 },
})
