import { expect, it } from "vitest";
import { createValueCount } from "./value-count.js";

const word = (number: number) => `0x${number.toString(16).padStart(64, "0")}`;
const address = (number: number) => `0x${number.toString(16).padStart(40, "0")}`;
const many = <T>(count: number, make: (number: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

function isTooMany(text: string, size = 65_536): boolean {
  const count = createValueCount();
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) {
    count.see(bytes.subarray(start, start + size));
    if (count.isTooMany()) return true;
  }
  return false;
}

const answer = (result: unknown) => JSON.stringify({ jsonrpc: "2.0", id: 1, result });

const transaction = (number: number, accessList: unknown[] = []) => ({
  ...{ blockHash: word(1), blockNumber: "0x1", from: address(number), gas: "0x0", gasPrice: "0x0" },
  ...{ maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0", hash: word(number), input: "0x", nonce: "0x0" },
  ...{ to: address(1), transactionIndex: "0x0", value: "0x0", type: "0x2", accessList, chainId: "0x1" },
  ...{ v: "0x0", r: "0x0", s: "0x0", yParity: "0x0" },
});
const block = (transactions: unknown) => ({
  ...{ number: "0x1", hash: word(1), parentHash: word(0), logsBloom: `0x${"0".repeat(512)}`, transactions },
  withdrawals: many(16, (index) => ({
    index: "0x1",
    validatorIndex: "0x1",
    address: address(index),
    amount: "0x1",
  })),
});
const receipt = (number: number, logs: unknown[]) => ({
  ...{ transactionHash: word(number), transactionIndex: "0x0", blockHash: word(1), blockNumber: "0x1", logs },
  ...{
    from: address(1),
    to: null,
    contractAddress: null,
    cumulativeGasUsed: "0x0",
    gasUsed: "0x0",
    status: "0x1",
  },
  ...{ effectiveGasPrice: "0x0", type: "0x0" },
});
const log = (number: number) => ({
  ...{ address: address(1), topics: [], data: "0x", blockHash: word(1), blockNumber: "0x1", removed: false },
  ...{ transactionHash: word(number), transactionIndex: "0x0", logIndex: "0x0" },
});
const emptyAccess = (number: number) => ({ address: address(number), storageKeys: [] });
const authorization = {
  chainId: "0x1",
  address: address(1),
  nonce: "0x0",
  yParity: "0x0",
  r: "0x0",
  s: "0x0",
};

const honest: readonly [what: string, text: string][] = [
  ["a block of small transactions", answer(block(many(10_000, (number) => transaction(number))))],
  [
    "a block whose sender has paid for nothing but entries of access lists",
    answer(block(many(4, (number) => transaction(number, many(7000, emptyAccess))))),
  ],
  [
    "a block of authorisations",
    answer(block([{ ...transaction(1), authorizationList: many(2000, () => authorization) }])),
  ],
  ["the hashes of a block", answer(block(many(15_000, word)))],
  ["the receipts of a block", answer(many(5000, (number) => receipt(number, [])))],
  ["a receipt of small logs", answer(receipt(1, many(20_000, log)))],
  ["a list of logs", answer(many(20_000, log))],
  [
    "fees",
    answer({
      oldestBlock: "0x1",
      reward: many(100, () => ["0x0", "0x0", "0x0"]),
      gasUsedRatio: many(100, () => 0),
    }),
  ],
  ["a batch", JSON.stringify(many(100, (id) => ({ id, result: "0x" })))],
];

it.each(honest)("%s can be parsed", (_what, text) => {
  expect(isTooMany(text)).toBe(false);
  expect(isTooMany(text, 999)).toBe(false);
});

const mebibyte = 1024 * 1024;
const filled = (item: string) => answer([]).replace("[]", `[${`${item},`.repeat(mebibyte / item.length)}0]`);
const hostile: readonly [what: string, text: string][] = [
  ["empty objects", filled("{}")],
  ["empty lists", filled("[]")],
  ["lists in lists", `${"[".repeat(mebibyte)}`],
  ["numbers", filled("1.5")],
  ["short strings", filled('"a"')],
  ["different keys", answer(Object.fromEntries(many(50_000, (number) => [`key ${number}`, "0x0"])))],
  ["objects with keys of their own", answer(many(50_000, (number) => ({ [`a field ${number}`]: "0x0" })))],
];

it.each(hostile)("%s without an end are refused", (_what, text) => {
  expect(isTooMany(text)).toBe(true);
  expect(isTooMany(text, 999)).toBe(true);
});

it("counts nothing inside of strings", () => {
  const text = `${"{[,:".repeat(1000)}\\"{[,:\\\\`;
  expect(isTooMany(`{"message":"${text}","code":1}`)).toBe(false);
  expect(isTooMany(`{"message":"${text}",${"{[,".repeat(1000)}`)).toBe(true);
});
