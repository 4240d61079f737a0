// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Sends all its coins without a call, which the receiver cannot refuse and no trace of calls shows.
contract Bomb {
    function explode(address payable to) external payable {
        selfdestruct(to);
    }
}
