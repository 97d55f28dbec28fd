/**
 * The interfaces we call, as types. For published contracts only the parts a world uses; for our own contracts all of
 * it, kept equal to the compiled JSON by a test.
 */
import { parseAbi } from 'viem'

/** ERC-20, with the two functions by which a test changes a token. */
const OWN_TOKEN = [
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function mint(address to, uint256 value)',
  'function setSymbol(string value)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
] as const

export const testTokenAbi = parseAbi([
  'constructor(string symbol_, uint8 decimals_)',
  ...OWN_TOKEN,
  'function deposit() payable',
  'function withdraw(uint256 value)',
  'function setDecimals(uint8 value)',
])

/** The token behind a TokenProxy. */
export const proxiedTokenAbi = parseAbi(['constructor(uint8 decimals_)', ...OWN_TOKEN])

export const tokenProxyAbi = parseAbi([
  'constructor(address implementation)',
  'function upgradeTo(address implementation)',
  'fallback() external',
  'event Upgraded(address indexed implementation)',
])

export const lookAlikePoolAbi = parseAbi([
  'constructor(address factory_, address token0_, address token1_)',
  'function factory() view returns (address)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function getReserves() view returns (uint112, uint112, uint32)',
  'function pretend(uint112 reserve0_, uint112 reserve1_)',
  'event Sync(uint112 reserve0, uint112 reserve1)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
])

export const priceFeedAbi = parseAbi([
  'constructor(string description_, uint8 decimals_)',
  'function decimals() view returns (uint8)',
  'function description() view returns (string)',
  'function version() view returns (uint256)',
  'function latestRound() view returns (uint80)',
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function getRoundData(uint80 roundId) view returns (uint80, int256, uint256, uint256, uint80)',
  'function setAnswer(int256 answer, uint256 updatedAt)',
  'function setRound(int256 answer, uint256 startedAt, uint256 updatedAt)',
  'event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)',
])

export const traderAbi = parseAbi([
  'function batch(bytes[] calls)',
  'function probe(bytes[] calls) returns (bool[] oks, bytes[] results)',
  'function probeOne(bytes call)',
  'function mintV3(address pool, int24 lower, int24 upper, uint128 liquidity) returns (uint256 amount0, uint256 amount1)',
  'function burnV3(address pool, int24 lower, int24 upper, uint128 liquidity) returns (uint256 amount0, uint256 amount1)',
  'function swapV3(address pool, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96) returns (int256 amount0, int256 amount1)',
  'function mintAlgebra(address pool, int24 bottom, int24 top, uint128 liquidity) returns (uint256 amount0, uint256 amount1)',
  'function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes)',
  'function pancakeV3MintCallback(uint256 owed0, uint256 owed1, bytes)',
  'function algebraMintCallback(uint256 owed0, uint256 owed1, bytes)',
  'function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes)',
  'function pancakeV3SwapCallback(int256 delta0, int256 delta1, bytes)',
  'function algebraSwapCallback(int256 delta0, int256 delta1, bytes)',
  'struct V4PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function swapV4(address manager, V4PoolKey key, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96) returns (int256 amount0, int256 amount1)',
  'function modifyV4(address manager, V4PoolKey key, int24 lower, int24 upper, int256 liquidityDelta) returns (int256 amount0, int256 amount1)',
  'function unlockCallback(bytes data) returns (bytes)',
  'receive() external payable',
  'function addV2(address pair, uint256 amount0, uint256 amount1) returns (uint112, uint112)',
  'function removeV2(address pair, uint256 liquidity) returns (uint112, uint112)',
  'function donateV2(address pair, uint256 amount0, uint256 amount1) returns (uint112, uint112)',
  'function swapV2(address pair, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out) returns (uint112, uint112)',
  'function swapExactInV2(address pair, bool zeroForOne, uint256 amountIn, uint256 numerator, uint256 denominator) returns (uint112, uint112)',
  'event StepDone(uint256 index)',
  'event StepFailed(uint256 index, bytes reason)',
  'error Probed(bool ok, bytes result)',
])

export const v3FactoryAbi = parseAbi([
  'function owner() view returns (address)',
  'function feeAmountTickSpacing(uint24 fee) view returns (int24)',
  'function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)',
  'function enableFeeAmount(uint24 fee, int24 tickSpacing)',
  'function createPool(address tokenA, address tokenB, uint24 fee) returns (address pool)',
  'event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)',
])

export const v3PoolAbi = parseAbi([
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function positions(bytes32 key) view returns (uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)',
  'function maxLiquidityPerTick() view returns (uint128)',
  'function ticks(int24 tick) view returns (uint128 liquidityGross, int128 liquidityNet, uint256 feeGrowthOutside0X128, uint256 feeGrowthOutside1X128, int56 tickCumulativeOutside, uint160 secondsPerLiquidityOutsideX128, uint32 secondsOutside, bool initialized)',
  'function initialize(uint160 sqrtPriceX96)',
  'function setFeeProtocol(uint8 feeProtocol0, uint8 feeProtocol1)',
  'event Initialize(uint160 sqrtPriceX96, int24 tick)',
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)',
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
])

export const v4ManagerAbi = parseAbi([
  'struct V4PoolKey { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }',
  'function owner() view returns (address)',
  'function initialize(V4PoolKey key, uint160 sqrtPriceX96) returns (int24 tick)',
  'function extsload(bytes32[] slots) view returns (bytes32[] values)',
  'function setProtocolFeeController(address controller)',
  'function setProtocolFee(V4PoolKey key, uint24 newProtocolFee)',
  'event Initialize(bytes32 indexed id, address indexed currency0, address indexed currency1, uint24 fee, int24 tickSpacing, address hooks, uint160 sqrtPriceX96, int24 tick)',
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
  'event ProtocolFeeUpdated(bytes32 indexed id, uint24 protocolFee)',
])

/** Replaces the deployer of PancakeSwap v3's pools. */
export const poolDeployerAbi = parseAbi([
  'constructor(bytes code)',
  'function parameters() view returns (address factory, address token0, address token1, uint24 fee, int24 tickSpacing)',
  'function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing) returns (address pool)',
])

/** The differences from v3's. */
export const pancakePoolAbi = parseAbi([
  'function setFeeProtocol(address pool, uint32 feeProtocol0, uint32 feeProtocol1)',
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)',
])

export const algebraFactoryAbi = parseAbi([
  'function owner() view returns (address)',
  'function poolByPair(address tokenA, address tokenB) view returns (address)',
  'function createPool(address tokenA, address tokenB) returns (address pool)',
  'function setFactory(address factory)',
  'event Pool(address indexed token0, address indexed token1, address pool)',
])

export const algebraPoolAbi = parseAbi([
  'function globalState() view returns (uint160 price, int24 tick, uint16 fee, uint16 timepointIndex, uint8 communityFeeToken0, uint8 communityFeeToken1, bool unlocked)',
  'function liquidity() view returns (uint128)',
  'function tickSpacing() view returns (int24)',
  'function ticks(int24 tick) view returns (uint128 liquidityTotal, int128 liquidityDelta, uint256 outerFeeGrowth0Token, uint256 outerFeeGrowth1Token, int56 outerTickCumulative, uint160 outerSecondsPerLiquidity, uint32 outerSecondsSpent, bool initialized)',
  'event Fee(uint16 fee)',
])

export const v2FactoryAbi = parseAbi([
  'function feeToSetter() view returns (address)',
  'function getPair(address tokenA, address tokenB) view returns (address)',
  'function createPair(address tokenA, address tokenB) returns (address pair)',
  'event PairCreated(address indexed token0, address indexed token1, address pair, uint256 length)',
])

export const v2PairAbi = parseAbi([
  'function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'event Mint(address indexed sender, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
  'event Sync(uint112 reserve0, uint112 reserve1)',
])

/** The functions that all odd tokens share. */
export const oddTokenAbi = parseAbi([
  'function setPool(address account)',
  'function setExempt(address account)',
  'function turn()',
  'function rebase(uint256 percent)',
  'function mint(address to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
])
