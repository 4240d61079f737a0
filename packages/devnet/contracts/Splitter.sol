// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Passes on what it is sent: coins arrive that no transaction is addressed to, and tokens in several logs of one transaction.
contract Splitter {
    function split(address payable[] calldata to) external payable {
        uint256 part = msg.value / to.length;
        for (uint256 i = 0; i < to.length; i++) {
            (bool sent,) = to[i].call{value: part}("");
            require(sent, "a part was refused");
        }
    }

    function splitToken(IToken token, address[] calldata to, uint256 part) external {
        for (uint256 i = 0; i < to.length; i++) {
            require(token.transferFrom(msg.sender, to[i], part), "a part was refused");
        }
    }
}
