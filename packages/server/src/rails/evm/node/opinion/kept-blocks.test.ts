import { describe, expect, it } from "vitest";
import {
  firstFinal,
  type Nodes,
  openHeads,
  other,
  own,
  quantity,
  transactionOf,
  wordOf,
} from "../../../../../test/harness/chain/opinion-nodes.js";
import { NodesDisagreeError } from "../../../../app/chain/chain-node.js";
import type { RpcCall } from "../../rpc/rpc-endpoint.js";

describe("blocks that are confirmed when they are final", () => {
  it.each([
    [32, 150],
    [192, 1000],
    [192, 3000],
    [400, 9000],
  ])("are so in steps that end in time: %i blocks with a node that takes %i ms", async (blocks, slowMs) => {
    const { nodes, jump, final } = openHeads({ slowMs });
    await jump(blocks);
    let reached: number | string = firstFinal;
    for (let steps = 0; reached !== firstFinal + blocks; steps++) {
      const beganMs = nodes.nowMs;
      const before = reached;
      reached = await final();
      expect(nodes.nowMs - beganMs).toBeLessThan(60_000);
      expect(Number(reached)).toBeGreaterThan(Number(before));
      expect(steps).toBeLessThan(20);
    }
  });

  it("are few requests, however many blocks there are", async () => {
    const { nodes, jump, final } = openHeads({ slowMs: 1 });
    await jump(192);
    const beganMs = nodes.nowMs;
    expect(await final()).toBe(292);
    expect(nodes.nowMs - beganMs).toBeLessThan(12);
  });

  it("end where nodes lack different transactions only if those are asked for alone", async () => {
    const lacked = new Map([
      ["one", transactionOf(110)],
      ["two", transactionOf(130)],
      ["slow", transactionOf(131)],
    ]);
    const isLacked = (name: string, { params }: RpcCall) => params[0] === lacked.get(name);
    const { jump, final } = openHeads({ lie: (name, call) => (isLacked(name, call) ? null : undefined) });
    await jump(32);
    expect(await final()).toBe(132);
  });

  it("wait for a transaction that only one node has, together with what follows", async () => {
    const lacking = new Set(["one", "two"]);
    const { nodes, jump, final, waitsFor } = openHeads({
      lie: (name, { params }) => (lacking.has(name) && params[0] === transactionOf(120) ? null : undefined),
    });
    await jump(32);
    expect(await final()).toBe(119);
    expect(await final()).toBe(119);
    expect(waitsFor()).toMatch(/^Two nodes must confirm transaction .* and only slow can\.$/);
    lacking.clear();
    expect(await final()).toBe(132);
    expect(waitsFor()).toBeUndefined();
    expect(nodes.finalNumber).toBe(132);
  });

  it("say why nothing of them is final, also if a step has no more time before they are asked for one by one", async () => {
    const { nodes, jump, final, remember, waitsFor } = openHeads({
      slowMs: 8000,
      lie: (name, { params }) => (name !== "slow" && params[0] === transactionOf(101) ? null : undefined),
    });
    await jump(2);
    // Of a branch that was left, and without an end before a later block is settled.
    remember(101, 5n, wordOf(9101));
    for (let steps = 0; steps < 12; steps++) {
      expect(await final(100)).toBe(100);
      expect(waitsFor()).toBeDefined();
    }
    expect(nodes.finalNumber).toBe(102);
  });

  it("halt the network if one of two nodes contradicts the other, and nothing after them is final", async () => {
    const says6 = ({ method, params }: RpcCall) =>
      method === "eth_getTransactionByHash" && params[0] === transactionOf(120)
        ? { hash: params[0], blockHash: wordOf(120), from: other, to: own, value: "0x6" }
        : undefined;
    const lie: Nodes["lie"] = (name, call) => (name === "one" ? says6(call) : undefined);
    const { jump, final, remember } = openHeads({ lie }, ["one", "two"]);
    await jump(32);
    remember(120, 6n);
    expect(await final()).toContain(`disagree about transaction ${transactionOf(120)}`);
    // The block that was misread is read again; the others are still to be confirmed.
    expect(await final()).toBe(132);
  });

  it("wait if one of two contradicts the other about a block that is read when it is final, and the next heads halt", async () => {
    const { nodes, confirmFinal, final } = openHeads({}, ["one", "two"]);
    await confirmFinal(99, 5n);
    expect(await final()).toBe(firstFinal);
    nodes.lie = (name, { method, params }) =>
      name === "one" && method === "eth_getTransactionByHash"
        ? { hash: params[0], blockHash: wordOf(99), from: other, to: own, value: "0x6" }
        : undefined;
    await expect(confirmFinal(99, 5n)).rejects.toThrow(NodesDisagreeError);
    expect(await final()).toContain(`disagree about transaction ${transactionOf(99)}`);
  });

  it("are all read again if the larger group contradicts what was read from one", async () => {
    const { jump, final, remember, misreads } = openHeads();
    await jump(32);
    remember(120, 6n);
    expect(await final()).toBe(firstFinal);
    expect(misreads()).toBe(1);
    expect(await final()).toBe(132);
    expect(misreads()).toBe(1);
  });

  it("do not wait for one of three nodes that contradicts the others, which is named", async () => {
    const { jump, final, odd } = openHeads({
      lie: (name, { method, params }) =>
        name === "one" && method === "eth_getTransactionByHash" && params[0] === transactionOf(120)
          ? { hash: params[0], blockHash: wordOf(120), from: other, to: own, value: "0x6" }
          : undefined,
    });
    await jump(32);
    expect(await final()).toBe(132);
    expect(new Set(odd)).toEqual(new Set(["one"]));
  });

  it("do not wait for a block that one of three nodes has in the place of the one that the others have", async () => {
    const fork = `0x${"f".repeat(64)}`;
    const { jump, final, odd, remember } = openHeads({
      lie: (name, { method, params }) =>
        name === "one" && method === "eth_getBlockByNumber" && params[0] === quantity(120)
          ? { number: quantity(120), hash: fork, parentHash: wordOf(119), timestamp: "0x1" }
          : undefined,
    });
    await jump(32);
    remember(120, 5n, fork);
    expect(await final()).toBe(132);
    expect(new Set(odd)).toEqual(new Set(["one"]));
  });

  it("are all read again if more transfers are kept than may be, in many blocks or in few", async () => {
    for (const [blocks, copies] of [
      [2001, 100],
      [2, 100_001],
    ] as const) {
      const { final, remember, misreads } = openHeads();
      for (let number = 1; number <= blocks; number++) remember(1_000_000 + number, 5n, undefined, copies);
      expect(misreads()).toBe(1);
      expect(await final()).toBe(firstFinal);
    }
  });

  it("do not count if they were left, also beside the one that took their place", async () => {
    const { nodes, jump, final } = openHeads();
    await jump(8);
    nodes.lie = (_, { method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === quantity(104)
        ? { number: quantity(104), hash: wordOf(9), parentHash: wordOf(103), timestamp: "0x1" }
        : params[0] === transactionOf(104)
          ? null
          : undefined;
    expect(await final()).toBe(108);
  });

  it("are kept while nodes name another block, because they can name it again", async () => {
    const { nodes, jump, final, remember, misreads, isToConfirm } = openHeads();
    await jump(32);
    remember(120, 6n);
    nodes.lie = (_, { method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === quantity(120)
        ? { number: quantity(120), hash: wordOf(9), parentHash: wordOf(119), timestamp: "0x1" }
        : undefined;
    expect(await final()).toBe(132);
    expect([isToConfirm(wordOf(119)), isToConfirm(wordOf(120))]).toEqual([false, true]);
    nodes.lie = () => undefined;
    expect(await final()).toBe(132);
    expect(misreads()).toBe(1);
    expect(isToConfirm(wordOf(120))).toBe(false);
  });

  it("are forgotten when a later block is settled", async () => {
    const { jump, final, remember, isToConfirm } = openHeads();
    await jump(32);
    const left = wordOf(9);
    remember(120, 6n, left);
    expect(await final(119)).toBe(132);
    expect(isToConfirm(left)).toBe(true);
    expect(await final(120)).toBe(132);
    expect(isToConfirm(left)).toBe(false);
  });

  it("are disputed until the nodes agree about them", async () => {
    const says6 = { from: other, to: own, value: "0x6" };
    const { nodes, confirmFinal, final, isDisputed } = openHeads({}, ["one", "two"]);
    nodes.lie = (name, { method, params }) =>
      name === "one" && method === "eth_getTransactionByHash"
        ? { hash: params[0], blockHash: wordOf(99), ...says6 }
        : undefined;
    await expect(confirmFinal(99, 5n)).rejects.toThrow(NodesDisagreeError);
    expect(await final()).toContain("disagree");
    expect(await final()).toBe(firstFinal);
    expect(isDisputed()).toBe(true);
    nodes.lie = () => undefined;
    await confirmFinal(99, 5n);
    expect(isDisputed()).toBe(false);
  });
});
