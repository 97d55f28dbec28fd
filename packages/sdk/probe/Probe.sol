// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {amountsOf, IV4Manager, noLimit, V4PoolKey, V4SwapParams} from "./PoolManager.sol";

/// Buys a token from the pool that prices it, moves some, sells some back, and reports every balance difference.
///
/// It is never deployed: a node runs it in one call whose code override puts it at an address. Nothing it calls is trusted
/// but the pools. Every step runs in a call of its own with bounded gas, is undone when it fails, and at most 128 bytes of
/// what it says are copied.
contract Probe {
    struct Hop {
        uint256 family;
        /// v4: the manager.
        address pool;
        address tokenIn;
        address tokenOut;
        /// v2: the share of the input that trades, as a fraction. v4: fee and tick spacing of the key. v3 and its kin: unused.
        uint256 a;
        uint256 b;
        /// v4: the hooks of the key, and the token that wraps its currency 0 where that is the native one.
        address hooks;
        address native;
    }

    /// `hops` lead from wrapped native to the token: the last in use is the pool that is probed.
    struct Plan {
        address wrapped;
        address second;
        uint256 count;
        Hop[4] hops;
    }

    /// What was sent (or said to be) and what arrived: of the buy, the transfer, the sale, and its proceeds.
    struct Findings {
        uint256 failed;
        uint256 boughtSent;
        uint256 boughtArrived;
        uint256 movedSent;
        uint256 movedArrived;
        uint256 soldSent;
        uint256 soldArrived;
        uint256 proceedsSent;
        uint256 proceedsArrived;
        uint256 reasonLength;
        bytes32[4] reason;
        bytes32 unused;
    }

    uint256 private constant V2 = 1;
    uint256 private constant V3 = 2;
    uint256 private constant V4 = 3;

    /// Bits of `failed`. A plan that fails before it reaches the token says nothing about the token.
    uint256 private constant FUND = 1;
    uint256 private constant BUY = 2;
    uint256 private constant MOVE = 4;
    uint256 private constant SELL = 8;
    uint256 private constant GAS = 16;

    /// An honest transfer with every extra there is takes a tenth.
    uint256 private constant STEP_GAS = 2_000_000;
    uint256 private constant ATTEMPT_GAS = 6_500_000;
    uint256 private constant READ_GAS = 300_000;
    uint256 private constant REASON_BYTES = 128;

    error Underpaid(uint256 sent, uint256 arrived);
    error Refused(address token);

    /// Who may call back, and what for: set for the time of one swap.
    address private _pool;
    address private _token;
    address private _payer;
    uint256 private _pay;
    uint256 private _owed;
    uint256 private _sent;
    uint256 private _arrived;

    modifier onlySelf() {
        require(msg.sender == address(this));
        _;
    }

    // ---- entries

    /// The whole way at two sizes in one block, neither seeing the other. This contract is the holder.
    function run(Plan calldata plan, uint256 small, uint256 large) external payable returns (Findings[2] memory found) {
        found[0] = _attempt(plan, small);
        found[1] = _attempt(plan, large);
    }

    /// First half of the way over two blocks: the caller, an account without code, is the holder.
    function enter(Plan calldata plan) external payable returns (Findings memory found) {
        _enter(plan, msg.value, msg.sender, found);
    }

    /// Second half: the caller has let this contract move its tokens, as it would a router.
    function depart(Plan calldata plan) external returns (Findings memory found) {
        _depart(plan, msg.sender, found);
    }

    // ---- the way

    function _attempt(Plan calldata plan, uint256 value) private returns (Findings memory found) {
        (bool ok, bytes memory said) = _self(abi.encodeCall(this.attempt, (plan, value)), ATTEMPT_GAS, 512);
        // It always reverts, with its findings. Anything else means that it ran out of gas.
        if (ok || said.length != 480) found.failed = GAS;
        else found = abi.decode(said, (Findings));
    }

    function attempt(Plan calldata plan, uint256 value) external onlySelf {
        Findings memory found;
        if (_enter(plan, value, address(this), found)) _depart(plan, address(this), found);
        bytes memory encoded = abi.encode(found);
        assembly {
            revert(add(encoded, 32), mload(encoded))
        }
    }

    function _enter(Plan calldata plan, uint256 value, address holder, Findings memory found) private returns (bool) {
        (bool ok, bytes memory said) = _self(abi.encodeCall(this.fund, (plan, value)), STEP_GAS, REASON_BYTES);
        if (!ok) return _fail(found, FUND, said);
        (ok, said) = _self(abi.encodeCall(this.buy, (plan, abi.decode(said, (uint256)), holder)), STEP_GAS, REASON_BYTES);
        if (!ok) return _fail(found, BUY, said);
        (found.boughtSent, found.boughtArrived) = abi.decode(said, (uint256, uint256));
        return true;
    }

    /// A quarter is moved and a half sold: what is left pays a tax that comes on top.
    function _depart(Plan calldata plan, address holder, Findings memory found) private {
        Hop memory hop = _reversed(plan.hops[plan.count - 1]);
        (bool isRead, uint256 held) = _tryBalance(hop.tokenIn, holder);
        if (!isRead) {
            _fail(found, SELL, "");
            return;
        }
        (bool ok, bytes memory said) =
            _self(abi.encodeCall(this.move, (hop.tokenIn, holder, plan.second, held / 4)), STEP_GAS, REASON_BYTES);
        if (ok) (found.movedSent, found.movedArrived) = abi.decode(said, (uint256, uint256));
        else _fail(found, MOVE, said);
        uint256 pay = held / 2;
        (ok, said) = _self(abi.encodeCall(this.sell, (hop, holder, pay, pay)), STEP_GAS, REASON_BYTES);
        if (!ok && said.length == 68 && bytes4(said) == Underpaid.selector) {
            // A pool that is owed what it asks for is asked for what will arrive.
            (found.soldSent, found.soldArrived) = _underpaid(said);
            uint256 owed = (found.soldArrived * 999) / 1000;
            (ok, said) = _self(abi.encodeCall(this.sell, (hop, holder, pay, owed)), STEP_GAS, REASON_BYTES);
        }
        if (ok) {
            (found.soldSent, found.soldArrived, found.proceedsSent, found.proceedsArrived) =
                abi.decode(said, (uint256, uint256, uint256, uint256));
        } else {
            _fail(found, SELL, said);
        }
    }

    // ---- steps

    function fund(Plan calldata plan, uint256 value) external onlySelf returns (uint256 amount) {
        (bool ok,) = plan.wrapped.call{value: value}(abi.encodeWithSignature("deposit()"));
        require(ok, "deposit");
        amount = _balance(plan.wrapped, address(this));
        for (uint256 i = 0; i + 1 < plan.count; i++) {
            (,,, amount) = _swap(plan.hops[i], address(this), address(this), amount, amount);
        }
    }

    function buy(Plan calldata plan, uint256 amount, address to) external onlySelf returns (uint256 sent, uint256 arrived) {
        (,, sent, arrived) = _swap(plan.hops[plan.count - 1], address(this), to, amount, amount);
        require(sent > 0, "nothing bought");
    }

    function move(address token, address from, address to, uint256 amount)
        external
        onlySelf
        returns (uint256 sent, uint256 arrived)
    {
        return _send(token, from, to, amount);
    }

    function sell(Hop memory hop, address from, uint256 pay, uint256 owed)
        external
        onlySelf
        returns (uint256 sent, uint256 arrived, uint256 said, uint256 received)
    {
        (sent, arrived, said, received) = _swap(hop, from, from, pay, owed);
        require(said > 0 && received > 0, "nothing paid");
    }

    // ---- families. A new one is a number, a function, and a line in _swap.

    /// Pays `pay`, of which the pool is to count `owed`. What was paid and arrived; what the pool said it gave and what came.
    function _swap(Hop memory hop, address from, address to, uint256 pay, uint256 owed)
        private
        returns (uint256 sent, uint256 arrived, uint256 said, uint256 received)
    {
        uint256 before = _balance(hop.tokenOut, to);
        if (hop.family == V2) (sent, arrived, said) = _swapV2(hop, from, to, pay);
        else if (hop.family == V3) (sent, arrived, said) = _swapV3(hop, from, to, pay, owed);
        else if (hop.family == V4) (sent, arrived, said) = _swapV4(hop, from, to, pay);
        else revert("family");
        received = _rise(before, _balance(hop.tokenOut, to));
    }

    function _swapV2(Hop memory hop, address from, address to, uint256 pay)
        private
        returns (uint256 sent, uint256 arrived, uint256 said)
    {
        bool zeroForOne = hop.tokenIn < hop.tokenOut;
        (uint256 reserveIn, uint256 reserveOut) = _reserves(hop.pool, zeroForOne);
        (sent, arrived) = _send(hop.tokenIn, from, hop.pool, pay);
        // A router of tokens with a fee counts what the pair will count.
        uint256 traded = _rise(reserveIn, _balance(hop.tokenIn, hop.pool)) * hop.a;
        said = (traded * reserveOut) / (reserveIn * hop.b + traded);
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), said) : (said, uint256(0));
        _call(hop.pool, abi.encodeWithSignature("swap(uint256,uint256,address,bytes)", out0, out1, to, ""));
    }

    function _reserves(address pool, bool zeroForOne) private view returns (uint256, uint256) {
        (bool ok, bytes memory said) = pool.staticcall{gas: READ_GAS}(abi.encodeWithSignature("getReserves()"));
        require(ok && said.length >= 64, "getReserves");
        (uint256 reserve0, uint256 reserve1) = abi.decode(said, (uint256, uint256));
        return zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
    }

    function _swapV3(Hop memory hop, address from, address to, uint256 pay, uint256 owed)
        private
        returns (uint256 sent, uint256 arrived, uint256 said)
    {
        bool zeroForOne = hop.tokenIn < hop.tokenOut;
        (_pool, _token, _payer, _pay, _owed) = (hop.pool, hop.tokenIn, from, pay, owed);
        (_sent, _arrived) = (0, 0);
        bytes memory answer = _call(
            hop.pool,
            abi.encodeWithSignature(
                "swap(address,bool,int256,uint160,bytes)", to, zeroForOne, int256(owed), noLimit(zeroForOne), ""
            )
        );
        (int256 amount0, int256 amount1) = abi.decode(answer, (int256, int256));
        said = uint256(-(zeroForOne ? amount1 : amount0));
        (sent, arrived) = (_sent, _arrived);
        delete _pool;
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        _callback(amount0, amount1);
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        _callback(amount0, amount1);
    }

    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        _callback(amount0, amount1);
    }

    /// A pool that ran out of liquidity asks for less than it was offered: then only that is paid.
    function _callback(int256 amount0, int256 amount1) private {
        require(msg.sender == _pool);
        uint256 owed = uint256(amount0 > 0 ? amount0 : amount1);
        (_sent, _arrived) = _send(_token, _payer, msg.sender, owed < _owed ? owed : _pay);
        if (_arrived < owed) revert Underpaid(_sent, _arrived);
    }

    function _swapV4(Hop memory hop, address from, address to, uint256 pay)
        private
        returns (uint256 sent, uint256 arrived, uint256 said)
    {
        (_pool, _payer, _pay) = (hop.pool, from, pay);
        bytes memory answer = _call(hop.pool, abi.encodeCall(IV4Manager.unlock, (abi.encode(hop, to))));
        said = abi.decode(abi.decode(answer, (bytes)), (uint256));
        (sent, arrived) = (_sent, _arrived);
        delete _pool;
    }

    /// Pays first: of a token that takes a part on the way what arrived is traded, as its routers do.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == _pool);
        (Hop memory hop, address to) = abi.decode(data, (Hop, address));
        (address currencyIn, address currencyOut) = (_currency(hop, hop.tokenIn), _currency(hop, hop.tokenOut));
        uint256 paid = _settle(hop, currencyIn);
        bool zeroForOne = currencyIn < currencyOut;
        (address lower, address upper) = zeroForOne ? (currencyIn, currencyOut) : (currencyOut, currencyIn);
        V4PoolKey memory key = V4PoolKey(lower, upper, uint24(hop.a), int24(int256(hop.b)), hop.hooks);
        V4SwapParams memory params = V4SwapParams(zeroForOne, -int256(paid), noLimit(zeroForOne));
        bytes memory answer = _call(msg.sender, abi.encodeCall(IV4Manager.swap, (key, params, "")));
        (int256 amountIn, int256 amountOut) = amountsOf(abi.decode(answer, (int256)));
        if (!zeroForOne) (amountIn, amountOut) = (amountOut, amountIn);
        // A pool that ran out of liquidity takes less than it was offered.
        _take(hop, currencyIn, _payer, paid - uint256(-amountIn));
        _take(hop, currencyOut, to, uint256(amountOut));
        return abi.encode(uint256(amountOut));
    }

    function _currency(Hop memory hop, address token) private pure returns (address) {
        return token == hop.native ? address(0) : token;
    }

    /// What the manager counts as paid.
    function _settle(Hop memory hop, address currency) private returns (uint256 paid) {
        if (currency == address(0)) {
            require(_payer == address(this), "native payer");
            _call(hop.native, abi.encodeWithSignature("withdraw(uint256)", _pay));
            (_sent, _arrived) = (_pay, _pay);
            _callPaying(msg.sender, _pay, abi.encodeCall(IV4Manager.settle, ()));
            return _pay;
        }
        _call(msg.sender, abi.encodeCall(IV4Manager.sync, (currency)));
        (_sent, _arrived) = _send(currency, _payer, msg.sender, _pay);
        return abi.decode(_call(msg.sender, abi.encodeCall(IV4Manager.settle, ())), (uint256));
    }

    /// Native currency is wrapped again: balances are those of tokens everywhere.
    function _take(Hop memory hop, address currency, address to, uint256 amount) private {
        if (amount == 0) return;
        address receiver = currency == address(0) ? address(this) : to;
        _call(msg.sender, abi.encodeCall(IV4Manager.take, (currency, receiver, amount)));
        if (currency != address(0)) return;
        _callPaying(hop.native, amount, abi.encodeWithSignature("deposit()"));
        if (to != address(this)) _send(hop.native, address(this), to, amount);
    }

    // ---- tokens

    /// What left the sender (at least what was asked for) and what came to the receiver.
    function _send(address token, address from, address to, uint256 amount)
        private
        returns (uint256 sent, uint256 arrived)
    {
        uint256 fromBefore = _balance(token, from);
        uint256 toBefore = _balance(token, to);
        bytes memory data = from == address(this)
            ? abi.encodeWithSignature("transfer(address,uint256)", to, amount)
            : abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount);
        bytes memory said = _call(token, data);
        // Tokens that return nothing are taken as everybody takes them.
        if (said.length > 0 && (said.length < 32 || abi.decode(said, (uint256)) == 0)) revert Refused(token);
        sent = _rise(_balance(token, from), fromBefore);
        if (sent < amount) sent = amount;
        arrived = _rise(toBefore, _balance(token, to));
    }

    function _balance(address token, address holder) private view returns (uint256) {
        (bool ok, uint256 balance) = _tryBalance(token, holder);
        require(ok, "balanceOf");
        return balance;
    }

    function _tryBalance(address token, address holder) private view returns (bool ok, uint256 held) {
        bytes memory data = abi.encodeWithSignature("balanceOf(address)", holder);
        assembly {
            ok := staticcall(READ_GAS, token, add(data, 32), mload(data), 0, 32)
            ok := and(ok, gt(returndatasize(), 31))
            held := mload(0)
        }
    }

    // ---- calls

    function _self(bytes memory data, uint256 gasLimit, uint256 most) private returns (bool ok, bytes memory said) {
        return _bounded(address(this), 0, data, gasLimit, most);
    }

    function _call(address to, bytes memory data) private returns (bytes memory) {
        return _callPaying(to, 0, data);
    }

    /// Reverts with what the callee said.
    function _callPaying(address to, uint256 value, bytes memory data) private returns (bytes memory said) {
        bool ok;
        (ok, said) = _bounded(to, value, data, gasleft(), REASON_BYTES);
        if (ok) return said;
        assembly {
            revert(add(said, 32), mload(said))
        }
    }

    /// Copies at most `most` bytes: an answer of megabytes costs its sender and nobody else.
    function _bounded(address to, uint256 value, bytes memory data, uint256 gasLimit, uint256 most)
        private
        returns (bool ok, bytes memory said)
    {
        assembly {
            ok := call(gasLimit, to, value, add(data, 32), mload(data), 0, 0)
            let size := returndatasize()
            if gt(size, most) { size := most }
            said := mload(64)
            mstore(said, size)
            returndatacopy(add(said, 32), 0, size)
            mstore(64, and(add(add(said, 63), size), not(31)))
        }
    }

    // ---- small things

    function _fail(Findings memory found, uint256 step, bytes memory said) private pure returns (bool) {
        // What the sale said counts more than what the transfer said.
        found.failed |= step;
        found.reasonLength = said.length;
        for (uint256 i = 0; i < 4; i++) {
            bytes32 word;
            if (i * 32 < said.length) {
                assembly {
                    word := mload(add(add(said, 32), mul(i, 32)))
                }
            }
            found.reason[i] = word;
        }
        return false;
    }

    function _underpaid(bytes memory said) private pure returns (uint256 sent, uint256 arrived) {
        assembly {
            sent := mload(add(said, 36))
            arrived := mload(add(said, 68))
        }
    }

    function _reversed(Hop memory hop) private pure returns (Hop memory) {
        return Hop(hop.family, hop.pool, hop.tokenOut, hop.tokenIn, hop.a, hop.b, hop.hooks, hop.native);
    }

    function _rise(uint256 before, uint256 later) private pure returns (uint256) {
        return later > before ? later - before : 0;
    }

    receive() external payable {}
}
