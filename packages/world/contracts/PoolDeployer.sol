// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Stands in for PancakeV3PoolDeployer, whose code no package carries: a factory has it make pools by CREATE2, and a pool
/// asks it for its parameters while it is made. It makes pools of whatever code it is given first.
contract PoolDeployer {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    bytes private poolCode;

    constructor(bytes memory code) {
        poolCode = code;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing)
        external
        returns (address pool)
    {
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory code = poolCode;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        require(pool != address(0), "no pool was made");
        delete parameters;
    }
}
