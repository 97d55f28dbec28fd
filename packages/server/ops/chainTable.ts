/**
 * The five chains the service knows by itself, as the configuration file would write them: an operator names only the
 * chain and its endpoints. Factories and init code hashes are proved by the addresses of known pools in a test.
 *
 * Factories under `unpriced_factories` are as their projects publish them and proved by nothing here: one that is wrong
 * answers nothing, so it names no pool.
 *
 * A bridged stable without a feed of its own (USDC.e) is a routing asset: priced from pools, not assumed to be a dollar.
 */
const INIT_CODE = {
  UNISWAP_V3: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
  UNISWAP_V2: '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f',
  PANCAKE_V2: '0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5',
  PANCAKE_V3: '0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2',
  ALGEBRA_V1: '0x6ec6c9c8091d160c0aa74b2b14ba9c1717e95093bd3ac085cee99a49aab294a4',
} as const

const PANCAKE_V3_FACTORY = '0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865'
const QUICKSWAP_V3_FACTORY = '0x411b0fAcC3489691f28ad58c47006AF5E3Ab3A28'

/**
 * Factories that are here as their projects publish them: known pools prove the contract that makes their pools, and their
 * own addresses follow from nothing. They are asked for that contract before a start, and refused if they name another one;
 * a pool of theirs counts only where its address follows from it.
 */
export const UNPROVEN_FACTORIES: ReadonlySet<string> = new Set(
  [PANCAKE_V3_FACTORY, QUICKSWAP_V3_FACTORY].map(address => address.toLowerCase()),
)

export const CHAIN_TABLE: Readonly<Record<number, Readonly<Record<string, unknown>>>> = {
  1: {
    name: 'Ethereum',
    genesis_hash: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    block_time_ms: 12_048,
    finality: { tag: 'finalized' },
    wrapped_native: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
    deployments: [
      {
        deployment_id: 'uniswap-v3',
        family: 'amm_v3',
        factory_address: '0x1F98431c8aD98523631AE4a59f267346ea31F984',
        deployment_block: 12_369_621,
        init_code_hash: INIT_CODE.UNISWAP_V3,
        fee_tiers: [100, 500, 3000, 10_000],
      },
      {
        deployment_id: 'uniswap-v2',
        family: 'amm_v2',
        factory_address: '0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f',
        deployment_block: 10_000_834,
        init_code_hash: INIT_CODE.UNISWAP_V2,
        fee: { numerator: 997, denominator: 1000 },
      },
      {
        // The published code with Uniswap's timelock as owner, at the salt of its deployer: a test derives the address.
        deployment_id: 'uniswap-v4',
        family: 'amm_v4',
        factory_address: '0x000000000004444c5dc75cB358380D2e3dE08A90',
        deployment_block: null,
      },
      {
        deployment_id: 'pancake-v3',
        family: 'amm_v3_pancake',
        factory_address: PANCAKE_V3_FACTORY,
        deployer_address: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
        deployment_block: null,
        init_code_hash: INIT_CODE.PANCAKE_V3,
        fee_tiers: [100, 500, 2500, 10_000],
      },
    ],
    unpriced_factories: [
      {
        deployment_id: 'curve-registry',
        family: 'curve',
        factory_address: '0xF98B45FA17DE75FB1aD0e7aFD971b0ca00e379fC',
      },
    ],
    stables: [
      // Sources disagree on the heartbeat: 86400 s is reported too.
      {
        token_address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        usd_feed: {
          address: '0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6',
          heartbeat_s: 82_800,
          grace_s: 1800,
        },
      }, // USDC
      {
        token_address: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
        usd_feed: {
          address: '0x3E7d1eAB13ad0104d2750B8863b489D65364e32D',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDT
      {
        token_address: '0x6B175474E89094C44Da98b954EedeAC495271d0F',
        usd_feed: {
          address: '0xAed0c38402a5d19df6E4c03F4E2DceD6e29c1ee9',
          heartbeat_s: 3_600,
          grace_s: 1800,
        },
      }, // DAI
    ],
    routing_assets: [
      {
        token_address: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2',
        usd_feed: {
          address: '0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419',
          heartbeat_s: 3600,
          grace_s: 300,
        },
      }, // WETH
      {
        token_address: '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599',
        usd_feed: {
          address: '0xF4030086522a5bEEa4988F8cA5B36dbC97BeE88c',
          heartbeat_s: 3600,
          grace_s: 300,
        },
      }, // WBTC
    ],
    pools: ['0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640'],
  },
  42_161: {
    name: 'Arbitrum One',
    genesis_hash: '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442',
    block_time_ms: 250,
    finality: { tag: 'finalized' },
    wrapped_native: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    deployments: [
      {
        deployment_id: 'uniswap-v3',
        family: 'amm_v3',
        factory_address: '0x1F98431c8aD98523631AE4a59f267346ea31F984',
        deployment_block: 165,
        init_code_hash: INIT_CODE.UNISWAP_V3,
        fee_tiers: [100, 500, 3000, 10_000],
      },
      {
        deployment_id: 'uniswap-v2',
        family: 'amm_v2',
        factory_address: '0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9',
        deployment_block: 150_442_611,
        init_code_hash: INIT_CODE.UNISWAP_V2,
        fee: { numerator: 997, denominator: 1000 },
      },
      {
        deployment_id: 'pancake-v3',
        family: 'amm_v3_pancake',
        factory_address: PANCAKE_V3_FACTORY,
        deployer_address: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
        deployment_block: null,
        init_code_hash: INIT_CODE.PANCAKE_V3,
        fee_tiers: [100, 500, 2500, 10_000],
      },
    ],
    unpriced_factories: [
      {
        deployment_id: 'camelot-v3',
        family: 'algebra',
        factory_address: '0x1a3c9B1d2F0529D97f2afC5136Cc23e58f1FD35B',
      },
      {
        deployment_id: 'joe-v2-1',
        family: 'liquidity_book',
        factory_address: '0x8e42f2F4101563bF679975178e880FD87d3eFd4e',
      },
    ],
    stables: [
      // Sources disagree on the heartbeat: 255 s is reported too.
      {
        token_address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
        usd_feed: {
          address: '0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDC
      {
        token_address: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
        usd_feed: {
          address: '0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDT
      {
        token_address: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1',
        usd_feed: {
          address: '0xc5C8E77B397E531B8EC06BFb0048328B30E9eCfB',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // DAI
    ],
    sequencer_uptime_feed: '0xFdB631F5EE196F0ed6FAa767959853A9F217697D',
    routing_assets: [
      // Older sources report a heartbeat of 86400 s.
      {
        token_address: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
        usd_feed: {
          address: '0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612',
          heartbeat_s: 1755,
          grace_s: 300,
        },
      }, // WETH
      '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', // USDC.e
      '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f', // WBTC
    ],
    pools: ['0xC6962004f452bE9203591991D15f6b388e09E8D0'],
  },
  56: {
    name: 'BNB Smart Chain',
    genesis_hash: '0x0d21840abff46b96c84b2ac9e10e4f5cdaeb5693cb665db62a2f3b02d2d57b5b',
    block_time_ms: 450,
    finality: { tag: 'finalized' },
    wrapped_native: '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
    deployments: [
      {
        deployment_id: 'pancake-v2',
        family: 'amm_v2',
        factory_address: '0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73',
        deployment_block: 6_809_737,
        init_code_hash: INIT_CODE.PANCAKE_V2,
        fee: { numerator: 9975, denominator: 10000 },
      },
      {
        deployment_id: 'uniswap-v2',
        family: 'amm_v2',
        factory_address: '0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6',
        deployment_block: 33_496_018,
        init_code_hash: INIT_CODE.UNISWAP_V2,
        fee: { numerator: 997, denominator: 1000 },
      },
      {
        deployment_id: 'pancake-v3',
        family: 'amm_v3_pancake',
        factory_address: PANCAKE_V3_FACTORY,
        deployer_address: '0x41ff9AA7e16B8B1a8a8dc4f0eFacd93D02d071c9',
        deployment_block: null,
        init_code_hash: INIT_CODE.PANCAKE_V3,
        fee_tiers: [100, 500, 2500, 10_000],
      },
    ],
    unpriced_factories: [
      {
        deployment_id: 'thena-v1',
        family: 'solidly',
        factory_address: '0xAFD89d21BdB66d00817d4153E055830B1c2B3970',
      },
    ],
    stables: [
      // No source names this heartbeat; 900 s is that of the other stables on this chain.
      {
        token_address: '0x55d398326f99059fF775485246999027B3197955',
        usd_feed: { address: '0xB97Ad0E74fa7d920791E90258A6E2085088b4320', heartbeat_s: 900, grace_s: 1800 },
      }, // USDT
      {
        token_address: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
        usd_feed: { address: '0x51597f405303C4377E36123cBc172b13269EA163', heartbeat_s: 900, grace_s: 1800 },
      }, // USDC
    ],
    routing_assets: [
      {
        token_address: '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c',
        usd_feed: {
          address: '0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE',
          heartbeat_s: 27,
          grace_s: 300,
        },
      }, // WBNB
      '0x2170Ed0880ac9A755fd29B2688956BD959F933F8', // ETH
      '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c', // BTCB
    ],
    pools: ['0x16b9a82891338f9bA80E2D6970FddA79D1eb0daE', '0xd99c7F6C65857AC913a8f880A4cb84032AB2FC5b'],
  },
  137: {
    name: 'Polygon PoS',
    genesis_hash: '0xa9c28ce2141b56c474f1dc504bee9b01eb1bd7d1a507580d5519d4437a97de1b',
    block_time_ms: 1_500,
    finality: { tag: 'finalized' },
    wrapped_native: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
    deployments: [
      {
        deployment_id: 'uniswap-v3',
        family: 'amm_v3',
        factory_address: '0x1F98431c8aD98523631AE4a59f267346ea31F984',
        deployment_block: 22_757_547,
        init_code_hash: INIT_CODE.UNISWAP_V3,
        fee_tiers: [100, 500, 3000, 10_000],
      },
      {
        deployment_id: 'uniswap-v2',
        family: 'amm_v2',
        factory_address: '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C',
        deployment_block: 49_948_178,
        init_code_hash: INIT_CODE.UNISWAP_V2,
        fee: { numerator: 997, denominator: 1000 },
      },
      // Its deployment block is not established: a scan begins at the first block.
      {
        deployment_id: 'quickswap-v2',
        family: 'amm_v2',
        factory_address: '0x5757371414417b8C6CAad45bAeF941aBc7d3Ab32',
        deployment_block: null,
        init_code_hash: INIT_CODE.UNISWAP_V2,
        fee: { numerator: 997, denominator: 1000 },
      },
      {
        deployment_id: 'quickswap-v3',
        family: 'amm_algebra_v1',
        factory_address: QUICKSWAP_V3_FACTORY,
        deployer_address: '0x2D98E2FA9da15aa6dC9581AB097Ced7af697CB92',
        deployment_block: null,
        init_code_hash: INIT_CODE.ALGEBRA_V1,
      },
    ],
    stables: [
      {
        token_address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
        usd_feed: {
          address: '0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDC
      {
        token_address: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
        usd_feed: {
          address: '0x0A6513e40db6EB1b165753AD52E80663aeA50545',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDT
      // Sources disagree on the heartbeat: 3600 s is reported too.
      {
        token_address: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
        usd_feed: {
          address: '0x4746DeC9e833A82EC7C2C1356372CcF2cfcD2F3D',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // DAI
    ],
    routing_assets: [
      {
        token_address: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270',
        usd_feed: {
          address: '0xAB594600376Ec9fD91F8e885dADF0CE036862dE0',
          heartbeat_s: 27,
          grace_s: 300,
        },
      }, // WPOL
      '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', // USDC.e
      '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', // WETH
      '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6', // WBTC
    ],
    pools: ['0xB6e57ed85c4c9dbfEF2a68711e9d6f36c56e0FcB'],
  },
  43_114: {
    name: 'Avalanche C-Chain',
    genesis_hash: '0x31ced5b9beb7f8782b014660da0cb18cc409f121f408186886e1ca3e8eeca96b',
    block_time_ms: 1_035,
    finality: { tag: 'finalized' },
    wrapped_native: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    deployments: [
      {
        deployment_id: 'uniswap-v3',
        family: 'amm_v3',
        factory_address: '0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD',
        deployment_block: 27_832_972,
        init_code_hash: INIT_CODE.UNISWAP_V3,
        fee_tiers: [100, 500, 3000, 10_000],
      },
      {
        deployment_id: 'uniswap-v2',
        family: 'amm_v2',
        factory_address: '0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C',
        deployment_block: 37_767_795,
        init_code_hash: INIT_CODE.UNISWAP_V2,
        fee: { numerator: 997, denominator: 1000 },
      },
    ],
    unpriced_factories: [
      {
        deployment_id: 'joe-v2-1',
        family: 'liquidity_book',
        factory_address: '0x8e42f2F4101563bF679975178e880FD87d3eFd4e',
      },
    ],
    stables: [
      {
        token_address: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
        usd_feed: {
          address: '0xF096872672F44d6EBA71458D74fe67F9a77a23B9',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDC
      {
        token_address: '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
        usd_feed: {
          address: '0xEBE676ee90Fe1112671f19b6B7459bC678B67e8a',
          heartbeat_s: 86_400,
          grace_s: 1800,
        },
      }, // USDT
    ],
    routing_assets: [
      {
        token_address: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
        usd_feed: {
          address: '0x0A77230d17318075983913bC2145DB16C7366156',
          heartbeat_s: 120,
          grace_s: 300,
        },
      }, // WAVAX
      '0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664', // USDC.e
      '0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB', // WETH.e
      '0x152b9d0FdC40C096757F570A51E494bd4b943E50', // BTC.b
    ],
    pools: ['0xfAe3f424a0a47706811521E3ee268f00cFb5c45E'],
  },
}

/**
 * How deep a block is final where the endpoints of a chain do not answer to the tag `finalized`. What is final is never
 * undone, so each is well past the deepest reorganisation the chain is known to have had since it has its present consensus.
 */
const FALLBACK_DEPTH: Readonly<Record<number, number>> = {
  /** Two epochs of 32 slots. */
  1: 64,
  /** A batch is final with the block of chain 1 that holds it: about 20 minutes. */
  42_161: 4800,
  /** Votes make a block final within a few; without them two thirds of the validators have built on it. */
  56: 64,
  /** Before milestones, 157 blocks were once undone. */
  137: 256,
  /** An accepted block is final at once; nodes behind one address may differ for a moment. */
  43_114: 16,
}
/** A chain of the configuration, taken for one like Ethereum. */
const OTHER_DEPTH = 64

export const fallbackDepthOf = (chainId: number): number => FALLBACK_DEPTH[chainId] ?? OTHER_DEPTH
