import { describe, expect, it } from "vitest";
import type { RpcCall, RpcEndpoint } from "../../rpc/rpc-endpoint.js";
import { createRpcPool } from "../../rpc/rpc-pool.js";
import { ContradictionError } from "../opinion/confirm-claims.js";
import { createHeads } from "./heads.js";

const quantity = (number: number) => `0x${number.toString(16)}`;

/** What a node says: undefined if it does not answer. */
interface Says {
  final: number;
  /** Its blocks from this number on are its own. */
  forkedFrom?: number;
  chainId?: number;
  /** The number of its newest block; 10 after the final one unless it is given. */
  latest?: number;
  baseFee?: number;
}

const headsBehind = 10;

/** The nodes of a chain, each as it says. */
function openHeads(says: (Says | undefined)[]) {
  /** `contradicted`: nodes contradict each other about what is in a final block, and another one does not answer. */
  const nodes = { says, nowMs: 0, contradicted: false, disputed: false };
  const odd: string[] = [];
  const headerOf = (index: number, number: number) => {
    const isFork = number >= (nodes.says[index]?.forkedFrom ?? Number.POSITIVE_INFINITY);
    const hashOf = (of: number) =>
      `0x${(isFork ? index + 1 : 0).toString(16)}${String(of).padStart(63, "0")}`;
    const header = { number: quantity(number), hash: hashOf(number), parentHash: hashOf(number - 1) };
    return { ...header, timestamp: "0x1", baseFeePerGas: quantity(nodes.says[index]?.baseFee ?? 1) };
  };
  const answer = (index: number, { final, chainId = 1 }: Says, { method, params }: RpcCall) => {
    if (method === "eth_chainId") return quantity(chainId);
    const latest = nodes.says[index]?.latest ?? final + headsBehind;
    const number = { latest, finalized: final }[String(params[0])] ?? Number(params[0]);
    return number > latest ? null : headerOf(index, number);
  };
  const endpoints = says.map(
    (_, index): RpcEndpoint => ({
      name: String(index + 1),
      call: async (calls) => {
        const said = nodes.says[index];
        if (said === undefined) return calls.map(() => ({ unavailable: "it does not answer" }));
        return calls.map((call) => ({ result: answer(index, said, call) }));
      },
      pauseMs: () => 0,
      close: async () => undefined,
    }),
  );
  const monotonicMs = () => nodes.nowMs;
  const pool = createRpcPool({
    ...{ network: "eip155:1", endpoints, monotonicMs, timers: { after: () => () => undefined } },
    seeOdd: (names) => void odd.push(...names),
  });
  const heads = createHeads({
    ...{ network: "eip155:1", chainId: 1, finality: { tag: "finalized" }, pool, monotonicMs },
    opinion: {
      confirmKept: async (final) => {
        if (nodes.contradicted)
          throw new ContradictionError("1 and 2 disagree about a transaction", false, "0xblock");
        return final;
      },
      waitsFor: () => undefined,
      isDisputed: () => nodes.disputed,
      misreads: () => 0,
    },
    lagging: { see: () => undefined },
  });
  /** The final block and the newest one, "halts" or "waits". */
  const look = async () => {
    const read = await heads.read().catch(() => undefined);
    if (read === undefined) return "waits";
    return "halt" in read ? "halts" : `${read.final.number} ${read.latest.number}`;
  };
  /** The block that the pace of payments follows. */
  const shared = async () => {
    const read = await heads.read();
    return "halt" in read ? read.halt : read.sharedNumber;
  };
  const shown = async () => {
    const read = await heads.read();
    return "halt" in read ? read.halt : `${read.shown?.number} ${read.shown?.baseFee}`;
  };
  /** Why the final block is not a later one. */
  const waits = async () => {
    const read = await heads.read();
    return "halt" in read ? read.halt : read.waits;
  };
  return { nodes, look, odd, shared, shown, waits, forgetFinal: heads.forgetFinal };
}

const honest = { final: 100 };
const ahead = { final: 104 };
const standing = { final: 40 };
const forked = { final: 103, forkedFrom: 90 };
const claiming = { final: 1_000_000 };
const foreign = { final: 100, chainId: 5 };
const silent = undefined;

describe("the final block", () => {
  it.each<[what: string, says: (Says | undefined)[], seen: string, odd: string]>([
    ["of two nodes is the lower one", [honest, ahead], "100 114", ""],
    ["of two that disagree halts", [honest, forked], "halts", ""],
    ["of two, one on another chain, halts", [honest, foreign], "halts", ""],
    ["of two, one silent, waits", [honest, silent], "waits", ""],
    ["of two stands with one that stands still", [honest, standing], "40 110", ""],
    ["of three is the one that two have reached", [honest, ahead, ahead], "104 114", ""],
    ["of three goes on without one that stands still", [honest, standing, ahead], "100 114", ""],
    ["of three goes on without one on a fork", [forked, honest, honest], "100 110", "1"],
    ["of three goes on without one on another chain", [honest, foreign, honest], "100 110", "2"],
    ["of three does not follow one that claims another", [honest, honest, claiming], "100 1000010", ""],
    ["of three, one on a fork and one behind, is of the two", [forked, honest, standing], "40 113", ""],
    ["of three that all disagree halts", [{ ...forked }, { ...forked }, honest], "halts", ""],
    ["of three, one silent and two that disagree, waits", [honest, forked, silent], "waits", ""],
    ["of three, one silent and one on another chain, waits", [honest, foreign, silent], "waits", ""],
    ["of four that are two and two halts", [honest, honest, forked, { ...forked }], "halts", ""],
    ["of four goes on with three of them", [honest, forked, honest, ahead], "100 114", "2"],
    ["of five goes on with three of them", [honest, forked, ahead, foreign, honest], "100 114", "4,2"],
  ])("%s", async (_, says, seen, odd) => {
    const heads = openHeads(says);
    expect(await heads.look()).toBe(seen);
    expect(heads.odd.join()).toBe(odd);
  });

  it("of two of three that disagree halts after a minute if the third says nothing, and goes on if it does", async () => {
    for (const third of [silent, honest]) {
      const { nodes, look } = openHeads([honest, forked, silent]);
      for (; nodes.nowMs < 50_000; nodes.nowMs += 10_000) expect(await look()).toBe("waits");
      nodes.says = [honest, forked, third];
      nodes.nowMs += 10_000;
      expect(await look()).toBe(third === silent ? "halts" : "100 110");
    }
  });

  it("of two of three that disagree now and then does not halt, however long after the first time", async () => {
    const { nodes, look } = openHeads([honest, forked, silent]);
    for (const second of [forked, honest, forked, honest, forked]) {
      nodes.says = [honest, second, silent];
      expect(await look()).toBe(second === forked ? "waits" : "100 110");
      nodes.nowMs += 20_000;
    }
  });

  it("of two of three that disagree every second time about what is in it halts after a minute", async () => {
    const { nodes, look } = openHeads([{ final: 100 }, { final: 100 }, undefined]);
    nodes.disputed = true;
    const seen: string[] = [];
    // What was found is reported once, and the block is read again before the next time.
    for (nodes.nowMs = 0; nodes.nowMs <= 80_000; nodes.nowMs += 10_000) {
      nodes.contradicted = !nodes.contradicted;
      seen.push(JSON.stringify(await look()));
    }
    expect(seen.at(-1)).toBe('"halts"');
    expect(seen.slice(0, 6)).not.toContain('"halts"');
  });

  it("of two of three that disagree now and then about what is in it, and agree after it, does not halt", async () => {
    const { nodes, look } = openHeads([{ final: 100 }, { final: 100 }, undefined]);
    for (nodes.nowMs = 0; nodes.nowMs <= 300_000; nodes.nowMs += 10_000) {
      nodes.contradicted = !nodes.contradicted;
      nodes.disputed = nodes.contradicted;
      expect(await look()).toBe(nodes.contradicted ? "waits" : "100 110");
    }
  });

  it("waits while the only one of several that answers is on another chain, and halts if it is the only one", async () => {
    for (const others of [[silent], [silent, silent]]) {
      const { nodes, look } = openHeads([foreign, ...others]);
      for (; nodes.nowMs < 300_000; nodes.nowMs += 10_000) expect(await look()).toBe("waits");
    }
    expect(await openHeads([foreign]).look()).toBe("halts");
  });

  it("can be an earlier one when the network goes on after a halt", async () => {
    const { nodes, look, forgetFinal } = openHeads([ahead, ahead]);
    expect(await look()).toBe("104 114");
    nodes.says = [standing, standing];
    expect(await look()).toBe("waits");
    forgetFinal();
    expect(await look()).toBe("40 50");
  });

  it.each<[what: string, says: (Says | undefined)[], waits: string | undefined]>([
    ["for the second of two that does not answer", [ahead, silent], "only 1 gives one"],
    ["for one of two that stands still", [honest, ahead], "1 has not reached block 104"],
    ["for no third one", [honest, honest, claiming], undefined],
    ["for no third one that stands still", [ahead, standing, ahead], undefined],
    [
      "for those of four that have not reached it",
      [honest, honest, ahead, ahead],
      "1 and 2 have not reached",
    ],
  ])("says that it waits %s", async (_, says, reason) => {
    const { nodes, waits } = openHeads(says.map(() => honest));
    expect(await waits()).toBeUndefined();
    nodes.says = says;
    if (reason === undefined) expect(await waits()).toBeUndefined();
    else expect(await waits()).toContain(reason);
  });

  it.each<[what: string, says: (Says | undefined)[], shared: number]>([
    ["that two of three have", [claiming, honest, ahead], 114],
    ["that both of two have", [claiming, honest], 110],
    ["that one has while no other answers", [honest], 110],
  ])("goes with the pace of payments, which follows the newest block %s", async (_, says, shared) => {
    expect(await openHeads(says).shared()).toBe(shared);
  });
});

describe("the head that is shown", () => {
  const alone = { ...honest, latest: 1_000_000, baseFee: 1_000_000 };

  it.each([
    [[honest, honest, alone], "110 1"],
    [[alone, honest, honest], "110 1"],
    [[honest, alone], "110 1"],
    [[honest, ahead, ahead], "114 1"],
    [[alone], "1000000 1000000"],
    [[honest, { final: 100, latest: 101, baseFee: 0 }, { final: 100, latest: 112, baseFee: 9 }], "110 1"],
  ])("is what two nodes support: %j", async (says, expected) => {
    expect(await openHeads(says).shown()).toBe(expected);
  });

  it("goes on while one node claims the same far block all the time", async () => {
    const { nodes, shown } = openHeads([honest, honest, alone]);
    expect(await shown()).toBe("110 1");
    nodes.says = [ahead, { ...ahead, baseFee: 2 }, alone];
    expect(await shown()).toBe("114 2");
  });
});
