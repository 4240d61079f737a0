import { describe, expect, it } from "vitest";
import { AnswerFault, type Question, type RpcPool } from "../rpc/rpc-pool.js";
import { InconsistentError } from "./consistent-read.js";
import { createReceiptReader, receiptQuestion } from "./receipts.js";
import { indexTokens } from "./transfer-logs.js";

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

describe("receipts that are asked for one by one", () => {
  const hashOf = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;

  /** Nodes that have the receipts of the first transactions. */
  function openReader(has: number) {
    const asked: number[] = [];
    const ask = async (questions: readonly Question<unknown>[]) => {
      asked.push(questions.length);
      return questions.map(({ method, params, read }) => {
        const isThere = method === "eth_getTransactionReceipt" && Number(params[0]) < has;
        return { value: isThere ? read({ ...receipt, transactionHash: params[0] }) : undefined };
      });
    };
    const { read } = createReceiptReader({ endpoints: [1, 2, 3], ask } as unknown as RpcPool, () => 0);
    const readAll = async (count: number) => {
      const hashes = Array.from({ length: count }, (_, index) => hashOf(index));
      const block = { hash: blockHash, transactions: hashes.map((one) => ({ hash: one })) };
      return await read(block, hashes, indexTokens([]));
    };
    return { readAll, asked };
  }

  it("are read in parts", async () => {
    const { readAll, asked } = openReader(1000);
    expect([...(await readAll(1000)).keys()]).toEqual(
      Array.from({ length: 1000 }, (_, index) => hashOf(index)),
    );
    expect(asked).toEqual([1, 100, 200, 400, 300]);
  });

  it("are not asked for after the first part that lacks one, as a node can make up a block of any number of them", async () => {
    const { readAll, asked } = openReader(250);
    await expect(readAll(100_000)).rejects.toThrow(InconsistentError);
    expect(asked).toEqual([1, 100, 200]);
  });
});
