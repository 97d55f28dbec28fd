// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

// Uniswap v4's manager as its callers see it, and the prices that no pool with ticks goes beyond.

uint160 constant MIN_SQRT_RATIO = 4295128739;
uint160 constant MAX_SQRT_RATIO = 1461446703485210103287273052203988822378723970342;

struct V4PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

/// A negative amount is exact input, a positive one exact output.
struct V4SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

struct V4LiquidityParams {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

/// Pairs of amounts are packed in one word, the amount of currency0 above. Negative is owed to the pool.
interface IV4Manager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(V4PoolKey calldata key, V4SwapParams calldata params, bytes calldata hookData)
        external
        returns (int256 delta);
    function modifyLiquidity(V4PoolKey calldata key, V4LiquidityParams calldata params, bytes calldata hookData)
        external
        returns (int256 delta, int256 fees);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// No limit at all, in the direction of the swap.
function noLimit(bool zeroForOne) pure returns (uint160) {
    return zeroForOne ? MIN_SQRT_RATIO + 1 : MAX_SQRT_RATIO - 1;
}

/// What a packed pair says of either currency.
function amountsOf(int256 delta) pure returns (int256 amount0, int256 amount1) {
    return (delta >> 128, int256(int128(delta)));
}
