// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// Keeps one percent of every transfer. The log names the whole amount; less arrives.
contract FeeToken is Token {
    constructor(string memory name_, string memory symbol_, uint8 decimals_, address holder, uint256 supply)
        Token(name_, symbol_, decimals_, holder, supply)
    {}

    function _move(address from, address to, uint256 value) internal override {
        require(balanceOf[from] >= value, "insufficient balance");
        uint256 fee = value / 100;
        balanceOf[from] -= value;
        balanceOf[to] += value - fee;
        totalSupply -= fee;
        emit Transfer(from, to, value);
    }
}
