import { expect, it } from "vitest";
import { isRateLimit, isRevert } from "./rpc-error.js";

/** What nodes and providers have answered. */
const reverts = [
  ["geth, with a reason", 3, "execution reverted: ERC20: transfer amount exceeds balance", "0x08c379a0"],
  ["geth, without one", -32_000, "execution reverted", undefined],
  ["geth, an estimate that uses all gas", -32_000, "gas required exceeds allowance (3000000)", undefined],
  ["geth, an invalid instruction", -32_000, "invalid opcode: INVALID", undefined],
  ["Nethermind", -32_015, "VM execution error.", "0x08c379a0"],
  ["EDR, with a reason", -32_000, "reverted with reason string 'insufficient balance'", "0x08c379a0"],
  ["EDR, out of gas", -32_000, "Transaction ran out of gas", "0x"],
] as const;

const revertsOfLimits = [
  ["geth", 3, "execution reverted: rate limit exceeded", "0x08c379a0"],
  ["geth, without the data", -32_000, "execution reverted: too many requests", undefined],
] as const;

const others = [
  ["a node that lags", -32_000, "header not found"],
  ["EDR, for a block that is not there", -32_000, "Received invalid block tag 153. Latest block number is 1"],
  ["a pruned node", -32_000, "missing trie node 1d2f (path 0a) state 0x1d2f is not available"],
  ["geth, for a sender without coins", -32_000, "insufficient funds for gas * price + value"],
  ["geth, for a call that takes too long", -32_000, "execution aborted (timeout = 5s)"],
  ["a method that is not offered", -32_601, "the method eth_estimateGas does not exist/is not available"],
  ["a fault of the node", -32_603, "Internal error"],
] as const;

const limits = [
  ["Alchemy", 429, "Your app has exceeded its compute units per second capacity."],
  ["Base", -32_016, "over rate limit"],
  ["Infura", -32_005, "exceeded project rate limit"],
  ["QuickNode", -32_007, "50/second request limit reached - reduce calls per second"],
  ["a proxy", -32_000, "Too Many Requests"],
] as const;

const ranges = [
  ["Infura", -32_005, "query returned more than 10000 results"],
  [
    "Alchemy",
    -32_602,
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range",
  ],
  ["Base", -32_614, "eth_getLogs is limited to a 10,000 range"],
] as const;

it.each(reverts)("an execution failed: %s", (_, code, message, returned) => {
  expect(isRevert({ code, message, returned })).toBe(true);
});

it.each(others)("nothing is known about the execution: %s", (_, code, message) => {
  expect(isRevert({ code, message, returned: undefined })).toBe(false);
});

it.each(limits)("asked too often: %s", (_, code, message) => {
  expect(isRateLimit({ code, message, returned: undefined })).toBe(true);
});

it.each(ranges)("a range that is refused is not asked too often: %s", (_, code, message) => {
  expect(isRateLimit({ code, message, returned: undefined })).toBe(false);
});

it.each(revertsOfLimits)(
  "the revert of a contract is not asked too often: %s",
  (_, code, message, returned) => {
    expect(isRateLimit({ code, message, returned })).toBe(false);
  },
);
