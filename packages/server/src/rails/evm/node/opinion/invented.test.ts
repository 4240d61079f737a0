import { describe, expect, it } from "vitest";
import {
  firstFinal,
  type Nodes,
  openHeads,
  other,
  own,
  transactionOf,
  wordOf,
} from "../../../../../test/harness/chain/opinion-nodes.js";

describe("a transaction in a final block that some nodes have invented", () => {
  const inNoBlock = wordOf(7_000_000);
  const inAnotherBlock = transactionOf(140);
  /** Its liars are the first of so many nodes. */
  function openWithLiars(liarCount: number, nodeCount: number, hash: string) {
    const names = Array.from({ length: nodeCount }, (_, index) => `node ${index}`);
    const liars = new Set(names.slice(0, liarCount));
    const invented = {
      hash,
      blockHash: wordOf(120),
      transactionHash: hash,
      from: other,
      to: own,
      value: "0x5",
    };
    const shown = { ...invented, status: "0x1", logs: [], gasUsed: "0x5208", effectiveGasPrice: "0x1" };
    const lie: Nodes["lie"] = (name, { params }) => {
      if (params[0] !== hash) return undefined;
      if (liars.has(name)) return shown;
      return hash === inNoBlock ? null : undefined;
    };
    return { liars, ...openHeads({ lie }, names) };
  }

  it.each<[number, number, string]>([
    ...[1, 2].flatMap((liars) =>
      [5, 7].map((nodes) => [liars, nodes, inNoBlock] as [number, number, string]),
    ),
    [1, 3, inNoBlock],
    [1, 3, inAnotherBlock],
    [2, 5, inAnotherBlock],
    [0, 3, inNoBlock],
  ])("by %i of %i is not confirmed, and not waited for: the block is read again", async (count, of, hash) => {
    const { jump, final, rememberInvented, misreads, odd, liars } = openWithLiars(count, of, hash);
    await jump(32);
    rememberInvented(120, hash);
    expect(await final()).toBe(firstFinal);
    expect(misreads()).toBe(1);
    expect(new Set(odd)).toEqual(liars);
    expect(await final()).toBe(132);
  });

  it.each([
    [1, 2],
    [2, 4],
    [3, 6],
  ])("by %i of %i halts the network", async (count, of) => {
    const { jump, final, rememberInvented } = openWithLiars(count, of, inNoBlock);
    await jump(32);
    rememberInvented(120, inNoBlock);
    expect(await final()).toContain(
      `node ${count} and node 0 disagree about transaction ${inNoBlock} in the final block`,
    );
  });

  it("is waited for while half of the nodes lack it and do not say what the block has", async () => {
    const lacking = new Set(["node 2", "node 3"]);
    const { nodes, jump, final } = openWithLiars(2, 4, transactionOf(120));
    const { lie } = nodes;
    nodes.lie = (name, call) =>
      lacking.has(name) && call.params[0] === transactionOf(120) ? null : lie(name, call);
    await jump(32);
    expect(await final()).toBe(119);
    lacking.delete("node 3");
    expect(await final()).toBe(132);
  });
});
