// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A contract as a wallet: receiving coins needs more than the 21,000 gas of a plain transfer.
contract Receiver {
    event Received(address indexed from, uint256 value);

    receive() external payable {
        emit Received(msg.sender, msg.value);
    }
}
