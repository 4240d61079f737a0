import { describe, expect, it } from "vitest";
import { AnswerFault } from "../rpc/rpc-pool.js";
import { receiptQuestion } from "./receipts.js";

const hash = `0x${"1".repeat(64)}`;
const blockHash = `0x${"2".repeat(64)}`;
const receipt = {
  ...{ transactionHash: hash, blockHash, status: "0x1", logs: [] },
  ...{ gasUsed: "0x5208", effectiveGasPrice: "0x3b9aca00", l1Fee: "0x10" },
};

describe("a receipt", () => {
  const { read } = receiptQuestion(hash, blockHash, { isLogKept: () => true });

  it("has the fee for gas and data", () => {
    expect(read(receipt)?.fee).toBe(21_000n * 1_000_000_000n + 16n);
  });

  it.each([
    ["gasUsed", 2n ** 64n],
    ["effectiveGasPrice", 2n ** 96n],
    ["l1Fee", 2n ** 255n],
    ["operatorFeeScalar", 2n ** 200n],
    ["operatorFeeConstant", 2n ** 256n - 1n],
  ])("is a wrong answer with a %s that no chain has, which no column could hold", (name, value) => {
    expect(() => read({ ...receipt, [name]: `0x${value.toString(16)}` })).toThrow(AnswerFault);
  });
});
