import { expect, it } from "vitest";
import { answerBytesOf } from "./answer-bytes.js";

const large = 32 * 1024 * 1024;
const bytesOf = (method: string, ...params: unknown[]) => answerBytesOf([{ method, params }], large);

it("only blocks with their transactions, logs and receipts may be large", () => {
  expect(bytesOf("eth_getBlockByNumber", "0x1", true)).toBe(large);
  expect(bytesOf("eth_getBlockByHash", "0x1", true)).toBe(large);
  expect(bytesOf("eth_getLogs", {})).toBe(large);
  expect(bytesOf("eth_getBlockReceipts", "0x1")).toBe(large);
  expect(bytesOf("eth_getTransactionReceipt", "0x1")).toBe(large);
});

it("an answer about the head is at most a thirtieth of that", () => {
  expect(bytesOf("eth_getBlockByNumber", "latest", false)).toBe(1024 * 1024);
  expect(bytesOf("eth_chainId")).toBe(16 * 1024);
});

it("a batch may have what its calls may have, and no more than a large answer", () => {
  const calls = ["eth_chainId", "eth_getBalance", "eth_call"].map((method) => ({ method, params: [] }));
  expect(answerBytesOf(calls, large)).toBe(3 * 16 * 1024);
  const many = Array.from({ length: 100 }, () => ({ method: "eth_getTransactionByHash", params: [] }));
  expect(answerBytesOf(many, large)).toBe(large);
});
