// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Tokens that behave oddly, each in one way: what a probe of sellability has to tell apart. Each has a switch, `turn`,
/// by which its owner changes it where that is the point.
abstract contract Odd {
    uint8 public decimals = 18;
    uint256 public totalSupply;
    address public owner = msg.sender;
    uint256 internal madeAt = block.timestamp;
    bool internal turned;
    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) internal isPool;
    /// Whoever adds liquidity: odd tokens spare them.
    mapping(address => bool) internal isExempt;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function name() external view virtual returns (string memory) {
        return "Odd";
    }

    function symbol() external view virtual returns (string memory) {
        return "ODD";
    }

    function balanceOf(address account) public view virtual returns (uint256) {
        return held[account];
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        held[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setPool(address account) external {
        isPool[account] = true;
    }

    function setExempt(address account) external {
        isExempt[account] = true;
    }

    function turn() external virtual {
        turned = !turned;
    }

    function approve(address spender, uint256 value) external virtual returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external virtual returns (bool) {
        return _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external virtual returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        return _transfer(from, to, value);
    }

    function _transfer(address from, address to, uint256 value) internal returns (bool) {
        if (isExempt[from] || isExempt[to]) {
            _move(from, to, value);
            return true;
        }
        return _odd(from, to, value);
    }

    function _odd(address from, address to, uint256 value) internal virtual returns (bool) {
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal {
        held[from] -= value;
        held[to] += value;
        emit Transfer(from, to, value);
    }

    /// The fee goes to the token itself, in a Transfer of its own.
    function _taxed(address from, address to, uint256 value, uint256 bps) internal returns (bool) {
        uint256 fee = (value * bps) / 10_000;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, value - fee);
        return true;
    }
}

// ---- honest

contract Plain is Odd {}

contract SixDecimals is Odd {
    constructor() {
        decimals = 6;
    }
}

contract RevertingName is Odd {
    function name() external pure override returns (string memory) {
        revert("no name");
    }

    function symbol() external pure override returns (string memory) {
        revert("no symbol");
    }
}

contract NoReturn is Odd {
    function transfer(address to, uint256 value) external override returns (bool) {
        _transfer(msg.sender, to, value);
        // The trader of the local world insists on an answer.
        if (isExempt[msg.sender]) return true;
        assembly {
            return(0, 0)
        }
    }

    function transferFrom(address from, address to, uint256 value) external override returns (bool) {
        _transfer(from, to, value);
        assembly {
            return(0, 0)
        }
    }
}

/// Tells a receiver that asked to be told, as ERC-777 does.
contract Hooks is Odd {
    mapping(address => bool) public listens;

    function listen() external {
        listens[msg.sender] = true;
    }

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        _move(from, to, value);
        if (listens[to]) {
            (bool ok,) = to.call(abi.encodeWithSignature("tokensReceived(address,uint256)", from, value));
            require(ok, "hook");
        }
        return true;
    }
}

/// Says that more was sent than there is room for in one word, and means it well.
contract LongReturn is Odd {
    function transfer(address to, uint256 value) external override returns (bool) {
        _transfer(msg.sender, to, value);
        assembly {
            mstore(0, 1)
            return(0, 96)
        }
    }
}

/// Whoever buys gets one hundredth more than the pool sends.
contract Bonus is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        _move(from, to, value);
        if (isPool[from]) held[to] += value / 100;
        return true;
    }
}

/// Balances are shares of a supply that the owner grows or shrinks.
contract Rebasing is Odd {
    uint256 internal factor = 100;

    function rebase(uint256 percent) external {
        factor = percent;
    }

    function balanceOf(address account) public view override returns (uint256) {
        return (held[account] * factor) / 100;
    }

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        _move(from, to, (value * 100) / factor);
        return true;
    }
}

// ---- honest, but not within one block or not for everyone

/// Nothing moves on in the block it arrived in.
contract SameBlockCoolDown is Odd {
    mapping(address => uint256) internal arrivedIn;

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from] || arrivedIn[from] != block.number, "cool-down");
        arrivedIn[to] = block.number;
        _move(from, to, value);
        return true;
    }
}

/// Nothing moves on for five minutes.
contract MinutesCoolDown is Odd {
    mapping(address => uint256) internal arrivedAt;

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from] || block.timestamp - arrivedAt[from] >= 300, "cool-down");
        arrivedAt[to] = block.timestamp;
        _move(from, to, value);
        return true;
    }
}

contract NoContractSellers is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from] || from.code.length == 0, "no contracts");
        _move(from, to, value);
        return true;
    }
}

contract OnlyOrigin is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from] || from == tx.origin, "no contracts");
        _move(from, to, value);
        return true;
    }
}

/// Only traded: between accounts nothing moves.
contract OnlyPools is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from] || isPool[to], "only pools");
        _move(from, to, value);
        return true;
    }
}

contract MaxTransaction is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(value <= 20e18, "max transaction");
        _move(from, to, value);
        return true;
    }
}

// ---- taxes

contract BuyTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[from] ? 500 : 0);
    }
}

contract SellTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[to] ? 3000 : 0);
    }
}

contract SmallSellTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[to] ? 7 : 0);
    }
}

contract TransferTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, 400);
    }
}

/// Between accounts only.
contract AccountTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[from] || isPool[to] ? 0 : 250);
    }
}

contract HeavySellTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[to] ? 9900 : 0);
    }
}

contract AboveSizeTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[to] && value > 20e18 ? 2000 : 0);
    }
}

/// A hundredth more each minute, to a quarter.
contract RisingTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        uint256 bps = ((block.timestamp - madeAt) / 60) * 100;
        return _taxed(from, to, value, isPool[to] ? (bps > 2500 ? 2500 : bps) : 0);
    }
}

/// Two hundredths of every transfer go to all holders.
contract Reflection is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        uint256 fee = (value * 200) / 10_000;
        held[from] -= fee;
        held[owner] += fee;
        _move(from, to, value - fee);
        return true;
    }
}

/// The sender pays five hundredths besides.
contract TaxOnTop is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (isPool[to]) _move(from, address(this), (value * 500) / 10_000);
        _move(from, to, value);
        return true;
    }
}

/// Only where nobody pays for gas or nobody is there: what a careless simulation looks like.
contract SparesSimulations is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        bool isSimulated = tx.gasprice == 0 || tx.origin == address(0) || tx.origin.balance == 0 || block.number == 0;
        return _taxed(from, to, value, isPool[to] && !isSimulated ? 1500 : 0);
    }
}

// ---- traps

contract Honeypot is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from] || from == owner, "not you");
        _move(from, to, value);
        return true;
    }
}

contract SellBan is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(!isPool[to], "");
        _move(from, to, value);
        return true;
    }
}

contract BlacklistOnBuy is Odd {
    mapping(address => bool) internal isListed;

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(!isListed[from], "listed");
        if (isPool[from]) isListed[to] = true;
        _move(from, to, value);
        return true;
    }
}

/// Whoever bought may sell in the same block, and never again: a simulation of one block sees nothing.
contract BlacklistNextBlock is Odd {
    mapping(address => uint256) internal boughtIn;

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(boughtIn[from] == 0 || boughtIn[from] == block.number, "listed");
        if (isPool[from]) boughtIn[to] = block.number;
        _move(from, to, value);
        return true;
    }
}

contract Paused is Odd {
    function _odd(address, address, uint256) internal pure override returns (bool) {
        revert("paused");
    }
}

contract ReturnsFalse is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (isPool[to]) return false;
        _move(from, to, value);
        return true;
    }
}

/// Says yes and moves nothing.
contract MovesNothing is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (!isPool[to]) _move(from, to, value);
        return true;
    }
}

contract WholeSellTax is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        return _taxed(from, to, value, isPool[to] ? 10_000 : 0);
    }
}

contract GasBomb is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (isPool[to]) while (true) totalSupply++;
        _move(from, to, value);
        return true;
    }
}

contract ReturnBomb is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (!isPool[from]) {
            assembly {
                revert(0, 400000)
            }
        }
        _move(from, to, value);
        return true;
    }
}

contract LongYes is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (isPool[to]) {
            assembly {
                mstore(0, 1)
                return(0, 400000)
            }
        }
        _move(from, to, value);
        return true;
    }
}

/// Shows its holders more than they have.
contract LyingBalance is Odd {
    function balanceOf(address account) public view override returns (uint256) {
        return isPool[account] || isExempt[account] ? held[account] : held[account] * 2;
    }

    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(isPool[from], "not you");
        _move(from, to, value);
        return true;
    }
}

contract ApproveReverts is Odd {
    function approve(address, uint256) external pure override returns (bool) {
        revert("no");
    }

    function transfer(address to, uint256 value) external override returns (bool) {
        require(isPool[msg.sender] || isExempt[msg.sender], "no");
        return _transfer(msg.sender, to, value);
    }
}

/// Honest until its owner turns it: what a proxy that changes does.
contract Turncoat is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        require(!turned || isPool[from], "turned");
        _move(from, to, value);
        return true;
    }
}

/// Calls back into whoever holds it, wherever that has a function for pools.
contract Reenters is Odd {
    function _odd(address from, address to, uint256 value) internal override returns (bool) {
        if (isPool[to]) {
            (bool ok,) = msg.sender.call(
                abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1e18), int256(0), "")
            );
            require(!ok, "robbed");
        }
        _move(from, to, value);
        return true;
    }
}
