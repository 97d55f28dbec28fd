// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// An upgradeable token's outer shell: every call runs the implementation's code on this contract's storage.
/// Anyone upgrades it: it belongs on a local chain.
contract TokenProxy {
    /// keccak256("eip1967.proxy.implementation") - 1
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    event Upgraded(address indexed implementation);

    constructor(address implementation) {
        upgradeTo(implementation);
    }

    function upgradeTo(address implementation) public {
        assembly {
            sstore(SLOT, implementation)
        }
        emit Upgraded(implementation);
    }

    fallback() external {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch ok
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
