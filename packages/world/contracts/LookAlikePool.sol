// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Says and logs what a Uniswap v2 pair says and logs, holds nothing, and names whatever factory it likes.
contract LookAlikePool {
    address public immutable factory;
    address public immutable token0;
    address public immutable token1;
    uint112 private reserve0;
    uint112 private reserve1;

    event Sync(uint112 reserve0, uint112 reserve1);
    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );

    constructor(address factory_, address token0_, address token1_) {
        factory = factory_;
        token0 = token0_;
        token1 = token1_;
    }

    function getReserves() external view returns (uint112, uint112, uint32) {
        return (reserve0, reserve1, uint32(block.timestamp));
    }

    /// Claims these reserves and a trade that led to them.
    function pretend(uint112 reserve0_, uint112 reserve1_) external {
        reserve0 = reserve0_;
        reserve1 = reserve1_;
        emit Sync(reserve0_, reserve1_);
        emit Swap(msg.sender, reserve0_ / 1000, 0, 0, reserve1_ / 1000, msg.sender);
    }
}
