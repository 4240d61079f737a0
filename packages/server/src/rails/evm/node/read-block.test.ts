import { expect, it } from "vitest";
import { AnswerFault } from "../rpc/rpc-pool.js";
import { blockByHashQuestion, headerQuestion } from "./read-block.js";

const wordOf = (digit: string) => `0x${digit.repeat(64)}`;
const blockOf = (hash: string, parentHash: string) => ({
  ...{ number: "0x7", hash, parentHash, timestamp: "0x1", baseFeePerGas: "0x1" },
  ...{ logsBloom: `0x${"0".repeat(512)}`, transactions: [] },
});

it("refuses a block that names itself as its parent", () => {
  const questions = [headerQuestion(7), headerQuestion("latest"), blockByHashQuestion(wordOf("a"))];
  for (const { read } of questions) {
    expect(read(blockOf(wordOf("a"), wordOf("b")))).toMatchObject({ number: 7, parentHash: wordOf("b") });
    expect(() => read(blockOf(wordOf("a"), wordOf("a")))).toThrow(AnswerFault);
  }
});
