// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// A transfer is logged and returns true, and nothing moves.
contract LogOnlyToken is Token {
    constructor(string memory name_, string memory symbol_, uint8 decimals_, address holder, uint256 supply)
        Token(name_, symbol_, decimals_, holder, supply)
    {}

    function _move(address from, address to, uint256 value) internal override {
        emit Transfer(from, to, value);
    }
}
