// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// An ERC-20 for a local world: anyone mints, and what it says of itself can change under the reader.
contract TestToken {
    string public name;
    string public symbol;
    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory symbol_, uint8 decimals_) {
        name = symbol_;
        symbol = symbol_;
        decimals = decimals_;
    }

    /// The supply wraps: two holders of 2^255 each must be possible, and no pool reads it.
    function mint(address to, uint256 value) external {
        unchecked {
            totalSupply += value;
        }
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    /// As wrapped native currency does. Where the token is not that, it is one more way to mint.
    function deposit() external payable {
        unchecked {
            totalSupply += msg.value;
        }
        balanceOf[msg.sender] += msg.value;
        emit Transfer(address(0), msg.sender, msg.value);
    }

    /// Pays out as far as it has native currency: what was minted has none behind it.
    function withdraw(uint256 value) external {
        balanceOf[msg.sender] -= value;
        unchecked {
            totalSupply -= value;
        }
        emit Transfer(msg.sender, address(0), value);
        (bool ok,) = msg.sender.call{value: value}("");
        require(ok, "no native currency behind it");
    }

    function setDecimals(uint8 value) external {
        decimals = value;
    }

    function setSymbol(string calldata value) external {
        symbol = value;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    function _transfer(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
