// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {
    amountsOf,
    IV4Manager,
    noLimit,
    V4LiquidityParams,
    V4PoolKey,
    V4SwapParams
} from "../../sdk/probe/PoolManager.sol";

interface IToken {
    function balanceOf(address) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

interface IV3Pool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address owner, int24 lower, int24 upper, uint128 liquidity, bytes calldata data)
        external
        returns (uint256 amount0, uint256 amount1);
    function burn(int24 lower, int24 upper, uint128 liquidity) external returns (uint256 amount0, uint256 amount1);
    function collect(address to, int24 lower, int24 upper, uint128 max0, uint128 max1)
        external
        returns (uint128 amount0, uint128 amount1);
    function swap(address to, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

interface IAlgebraPool {
    function mint(address sender, address owner, int24 bottom, int24 top, uint128 liquidity, bytes calldata data)
        external
        returns (uint256 amount0, uint256 amount1, uint128 actual);
}

interface IV2Pair {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 timestamp);
    function mint(address to) external returns (uint256 liquidity);
    function burn(address to) external returns (uint256 amount0, uint256 amount1);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
    function sync() external;
    function transfer(address to, uint256 value) external returns (bool);
}

/// Trades on v2 pairs, v3 pools and pools of a v4 manager with its own balances, and owns the liquidity it adds.
///
/// It pays whatever pool calls back and obeys whoever calls it: it belongs on a local chain, holding tokens
/// that anyone may mint.
contract Trader {
    /// The logs of a step come before its marker, so a receipt can be cut into steps.
    event StepDone(uint256 index);
    event StepFailed(uint256 index, bytes reason);

    error Probed(bool ok, bytes result);

    /// Runs calls to this contract in order. One that reverts leaves no trace but its StepFailed.
    function batch(bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool ok, bytes memory result) = address(this).delegatecall(calls[i]);
            if (ok) emit StepDone(i);
            else emit StepFailed(i, result);
        }
    }

    /// Runs each call from the present state and undoes it: what-ifs that do not see one another.
    function probe(bytes[] calldata calls) external returns (bool[] memory oks, bytes[] memory results) {
        oks = new bool[](calls.length);
        results = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            try this.probeOne(calls[i]) {}
            catch (bytes memory thrown) {
                require(bytes4(thrown) == Probed.selector, "probe ran out of gas");
                assembly {
                    mstore(add(thrown, 4), sub(mload(thrown), 4))
                    thrown := add(thrown, 4)
                }
                (oks[i], results[i]) = abi.decode(thrown, (bool, bytes));
            }
        }
    }

    /// Always reverts, with the result inside.
    function probeOne(bytes calldata call) external {
        (bool ok, bytes memory result) = address(this).delegatecall(call);
        revert Probed(ok, result);
    }

    // ---- v3

    function mintV3(IV3Pool pool, int24 lower, int24 upper, uint128 liquidity)
        external
        returns (uint256 amount0, uint256 amount1)
    {
        return pool.mint(address(this), lower, upper, liquidity, "");
    }

    /// Burns and takes everything the position is owed. Burning 0 pokes it.
    function burnV3(IV3Pool pool, int24 lower, int24 upper, uint128 liquidity)
        external
        returns (uint256 amount0, uint256 amount1)
    {
        (amount0, amount1) = pool.burn(lower, upper, liquidity);
        pool.collect(address(this), lower, upper, type(uint128).max, type(uint128).max);
    }

    /// A positive amount is exact input, a negative one exact output. A limit of 0 is no limit.
    function swapV3(IV3Pool pool, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96)
        external
        returns (int256 amount0, int256 amount1)
    {
        if (sqrtPriceLimitX96 == 0) sqrtPriceLimitX96 = noLimit(zeroForOne);
        return pool.swap(address(this), zeroForOne, amountSpecified, sqrtPriceLimitX96, "");
    }

    /// Burning and swapping are as on v3.
    function mintAlgebra(IAlgebraPool pool, int24 bottom, int24 top, uint128 liquidity)
        external
        returns (uint256 amount0, uint256 amount1)
    {
        (amount0, amount1,) = pool.mint(address(this), address(this), bottom, top, liquidity, "");
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata) external {
        _payOwed(owed0, owed1);
    }

    function pancakeV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata) external {
        _payOwed(owed0, owed1);
    }

    function algebraMintCallback(uint256 owed0, uint256 owed1, bytes calldata) external {
        _payOwed(owed0, owed1);
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata) external {
        _payDelta(delta0, delta1);
    }

    function pancakeV3SwapCallback(int256 delta0, int256 delta1, bytes calldata) external {
        _payDelta(delta0, delta1);
    }

    function algebraSwapCallback(int256 delta0, int256 delta1, bytes calldata) external {
        _payDelta(delta0, delta1);
    }

    function _payOwed(uint256 owed0, uint256 owed1) private {
        if (owed0 > 0) _pay(IV3Pool(msg.sender).token0(), owed0);
        if (owed1 > 0) _pay(IV3Pool(msg.sender).token1(), owed1);
    }

    function _payDelta(int256 delta0, int256 delta1) private {
        if (delta0 > 0) _pay(IV3Pool(msg.sender).token0(), uint256(delta0));
        if (delta1 > 0) _pay(IV3Pool(msg.sender).token1(), uint256(delta1));
    }

    // ---- v4. Amounts are positive into the pool, as v3 has them.

    /// A positive amount is exact input, a negative one exact output. A limit of 0 is no limit.
    function swapV4(
        IV4Manager manager,
        V4PoolKey calldata key,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96
    ) external returns (int256 amount0, int256 amount1) {
        if (sqrtPriceLimitX96 == 0) sqrtPriceLimitX96 = noLimit(zeroForOne);
        V4SwapParams memory params = V4SwapParams(zeroForOne, -amountSpecified, sqrtPriceLimitX96);
        return _unlock(manager, abi.encode(key, true, abi.encode(params)));
    }

    /// A negative delta removes. Fees that the position earned are paid out beside.
    function modifyV4(IV4Manager manager, V4PoolKey calldata key, int24 lower, int24 upper, int256 liquidityDelta)
        external
        returns (int256 amount0, int256 amount1)
    {
        V4LiquidityParams memory params = V4LiquidityParams(lower, upper, liquidityDelta, bytes32(0));
        return _unlock(manager, abi.encode(key, false, abi.encode(params)));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        IV4Manager manager = IV4Manager(msg.sender);
        (V4PoolKey memory key, bool isSwap, bytes memory params) = abi.decode(data, (V4PoolKey, bool, bytes));
        int256 delta;
        if (isSwap) delta = manager.swap(key, abi.decode(params, (V4SwapParams)), "");
        else (delta,) = manager.modifyLiquidity(key, abi.decode(params, (V4LiquidityParams)), "");
        (int256 amount0, int256 amount1) = amountsOf(delta);
        _square(manager, key.currency0, amount0);
        _square(manager, key.currency1, amount1);
        return abi.encode(-amount0, -amount1);
    }

    /// A hook, or a manager that pays in its native currency, may send some.
    receive() external payable {}

    function _unlock(IV4Manager manager, bytes memory data) private returns (int256, int256) {
        return abi.decode(manager.unlock(data), (int256, int256));
    }

    function _square(IV4Manager manager, address currency, int256 delta) private {
        if (delta > 0) manager.take(currency, address(this), uint256(delta));
        if (delta >= 0) return;
        manager.sync(currency);
        if (currency == address(0)) {
            manager.settle{value: uint256(-delta)}();
            return;
        }
        _send(currency, address(manager), uint256(-delta));
        manager.settle();
    }

    // ---- v2. Each returns the reserves after it.

    function addV2(IV2Pair pair, uint256 amount0, uint256 amount1) external returns (uint112, uint112) {
        _give(pair, amount0, amount1);
        pair.mint(address(this));
        return _reserves(pair);
    }

    function removeV2(IV2Pair pair, uint256 liquidity) external returns (uint112, uint112) {
        require(pair.transfer(address(pair), liquidity), "pair token transfer failed");
        pair.burn(address(this));
        return _reserves(pair);
    }

    /// Gives tokens to the pair and lets it count them: reserves that move without a trade.
    function donateV2(IV2Pair pair, uint256 amount0, uint256 amount1) external returns (uint112, uint112) {
        _give(pair, amount0, amount1);
        pair.sync();
        return _reserves(pair);
    }

    /// Pays in what it is told and asks for what it is told; the pair judges.
    function swapV2(IV2Pair pair, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out)
        external
        returns (uint112, uint112)
    {
        _give(pair, amount0In, amount1In);
        pair.swap(amount0Out, amount1Out, address(this), "");
        return _reserves(pair);
    }

    /// Sells exactly amountIn where numerator of denominator units of the input trade (997 of 1000).
    /// The output rounds down: it is the most the pair's own check lets go.
    function swapExactInV2(IV2Pair pair, bool zeroForOne, uint256 amountIn, uint256 numerator, uint256 denominator)
        external
        returns (uint112, uint112)
    {
        (uint256 reserveIn, uint256 reserveOut) = _reserves(pair);
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        uint256 traded = amountIn * numerator;
        uint256 amountOut = (traded * reserveOut) / (reserveIn * denominator + traded);
        if (zeroForOne) {
            _give(pair, amountIn, 0);
            pair.swap(0, amountOut, address(this), "");
        } else {
            _give(pair, 0, amountIn);
            pair.swap(amountOut, 0, address(this), "");
        }
        return _reserves(pair);
    }

    function _reserves(IV2Pair pair) private view returns (uint112 reserve0, uint112 reserve1) {
        (reserve0, reserve1,) = pair.getReserves();
    }

    function _give(IV2Pair pair, uint256 amount0, uint256 amount1) private {
        if (amount0 > 0) _send(pair.token0(), address(pair), amount0);
        if (amount1 > 0) _send(pair.token1(), address(pair), amount1);
    }

    function _pay(address token, uint256 value) private {
        _send(token, msg.sender, value);
    }

    function _send(address token, address to, uint256 value) private {
        require(IToken(token).transfer(to, value), "token transfer failed");
    }
}
