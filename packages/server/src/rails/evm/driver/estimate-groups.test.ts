import { describe, expect, it } from "vitest";
import type { ChainNode, PaymentDraft } from "../../../app/chain/chain-node.js";
import type { ReadyPayment } from "../../../app/chain/chain-store.js";
import { createEstimates } from "./estimate-groups.js";

const network = { coin: "ETH", tokens: [] };
const gas = { gasLimit: 21_000n, dataFee: 0n };

/** A UUID for each name of a payment. */
const idOf = (name: string) =>
  Buffer.from(name)
    .toString("hex")
    .padStart(32, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
const nameOf = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex").toString().replaceAll("\0", "");

/** The first letters of a wallet name its tenant. */
const paymentOf = (walletId: string, number: number, destination = "0xgood") =>
  ({
    tenantId: walletId.replace(/\d+$/, ""),
    id: idOf(`${walletId}${number}`),
    walletId,
    address: walletId,
    asset: "ETH",
    destination,
    amount: 1n,
  }) as ReadyPayment;
const many = (walletId: string, count: number) =>
  Array.from({ length: count }, (_, number) => paymentOf(walletId, number));

/** A node that fails for every group with a bad destination, after this time. */
function startNode(failsAfterMs = 0, slowMs = 0) {
  let nowMs = 0;
  const reports: string[] = [];
  const groups: (readonly PaymentDraft[])[] = [];
  const estimate: ChainNode["estimate"] = async (drafts, patience) => {
    groups.push(drafts);
    nowMs += patience === "brief" ? Math.min(slowMs, 3000) : slowMs;
    if (patience === "brief" && slowMs > 3000) return drafts.map(() => ({ refused: "UNAVAILABLE" }));
    if (!drafts.some(({ destination }) => destination === "0xbad")) return drafts.map(() => gas);
    nowMs += failsAfterMs;
    return drafts.map(() => ({ refused: "UNAVAILABLE" }));
  };
  const estimates = createEstimates(
    () => nowMs,
    ({ message }) => reports.push(message),
  );
  const context = { network, node: { estimate } } as unknown as Parameters<typeof estimates.estimate>[0];
  const idsOf = async (payments: readonly ReadyPayment[]) =>
    (await estimates.estimate(context, payments)).estimated.map(({ payment }) => nameOf(payment.id)).sort();
  const unbegunOf = async (payments: readonly ReadyPayment[]) => [
    ...(await estimates.estimate(context, payments)).unbegun,
  ];
  const wait = (delayMs: number) => {
    nowMs += delayMs;
  };
  return { idsOf, unbegunOf, groups, wait, reports, count: estimates.countUnestimated };
}

describe("estimates", () => {
  it("are asked for in groups of one wallet, of at most 8", async () => {
    const { idsOf, groups } = startNode();
    expect(await idsOf([...many("a", 20), ...many("b", 3)])).toHaveLength(23);
    expect(groups.map((group) => group.length)).toEqual([8, 3, 8, 4]);
    for (const group of groups) expect(new Set(group.map(({ from }) => from)).size).toBe(1);
  });

  it("that fail delay no other group, and the others of theirs only until they are tried alone", async () => {
    const { idsOf, groups, wait } = startNode();
    const payments = [paymentOf("a", 0, "0xbad"), paymentOf("a", 1), ...many("b", 2)];
    expect(await idsOf(payments)).toEqual(["b0", "b1"]);
    // Not before their time.
    expect(await idsOf(payments.slice(0, 2))).toEqual([]);
    expect(groups).toHaveLength(2);
    wait(60_000);
    expect(await idsOf(payments.slice(0, 2))).toEqual(["a1"]);
    expect(groups.slice(2).map((group) => group.length)).toEqual([1, 1]);
  });

  it("that take long come after those that have not failed, and are not begun when the time of a step is used up", async () => {
    const { idsOf, groups, wait } = startNode(3000);
    const bad = [..."abcdef"].map((name, number) => paymentOf(`bad${name}`, number, "0xbad"));
    expect(await idsOf(bad)).toEqual([]);
    expect(groups).toHaveLength(4);
    wait(600_000);
    groups.length = 0;
    expect(await idsOf([...bad.slice(0, 4), ...many("good", 1)])).toEqual(["good0"]);
    expect(groups[0]?.[0]?.from).toBe("good");
  });

  it("begin with a group of each tenant, whatever others pay to and how many wallets they have", async () => {
    const { idsOf, groups } = startNode(3000);
    const bad = Array.from({ length: 15 }, (_, number) =>
      Array.from({ length: 16 }, (_, payment) => paymentOf(`bad${number + 10}`, payment, "0xbad")),
    ).flat();
    expect(await idsOf([...bad, paymentOf("good", 1)])).toEqual(["good1"]);
    expect(groups.map(([first]) => first?.from.replace(/\d+$/, ""))).toEqual(["bad", "good", "bad", "bad"]);
    expect(new Set(groups.map(([first]) => first?.from)).size).toBe(4);
  });

  it("say which tenants found no time, and begin with another wallet of a tenant in each step", async () => {
    const { unbegunOf, groups, wait } = startNode(3000);
    const badOf = (step: number) =>
      ["a1", "a2", "b1", "c1", "d1", "e1", "f1"].map((walletId) => paymentOf(walletId, step, "0xbad"));
    expect(await unbegunOf(badOf(0))).toEqual(["e", "f"]);
    const first = groups[0]?.[0]?.from;
    groups.length = 0;
    wait(10);
    await unbegunOf(badOf(1));
    expect(new Set([first, groups[0]?.[0]?.from])).toEqual(new Set(["a1", "a2"]));
  });

  it("that are tried alone have the time of every request, because a node can be slow with all", async () => {
    const { idsOf, wait } = startNode(0, 3300);
    const payments = many("a", 3);
    expect(await idsOf(payments)).toEqual([]);
    wait(60_000);
    expect(await idsOf(payments)).toEqual(["a0", "a1", "a2"]);
  });

  it("are tried alone also while there are always others, which fail as long as nodes are slow", async () => {
    const { idsOf, wait } = startNode(0, 3300);
    const first = many("a", 3);
    await idsOf(first);
    const done = new Set<string>();
    for (let step = 0; step < 10; step++) {
      wait(1000);
      const all = [...first.filter(({ id }) => !done.has(nameOf(id))), paymentOf("b", step)];
      for (const id of await idsOf(all)) done.add(id);
    }
    expect([...done]).toEqual(["a0", "a1", "a2"]);
  });

  it("that are tried alone and take long do not delay others most of the time", async () => {
    const { idsOf, groups, wait } = startNode(10_000);
    const bad = Array.from({ length: 40 }, (_, number) => paymentOf(`bad${number}`, number, "0xbad"));
    for (let step = 0; step < 10; step++) await idsOf(bad);
    wait(600_000);
    groups.length = 0;
    let delayed = 0;
    for (let step = 0; step < 60; step++) {
      wait(1000);
      const before = groups.length;
      expect(await idsOf([...bad, paymentOf("good", step)])).toEqual([`good${step}`]);
      if (groups.length > before + 1) delayed += 1;
    }
    expect(delayed).toBeGreaterThan(0);
    expect(delayed).toBeLessThan(5);
  });

  it("that fail for a minute are reported, one of them each minute", async () => {
    const { idsOf, reports, wait, count } = startNode();
    const bad = [paymentOf("a", 0, "0xbad"), paymentOf("b", 0, "0xbad")];
    for (let second = 0; second < 59; second++) {
      await idsOf(bad);
      wait(1000);
    }
    expect([reports, count()]).toEqual([[], 0]);
    for (let second = 0; second < 300; second++) {
      await idsOf(bad);
      wait(1000);
    }
    expect(reports.length).toBeGreaterThan(2);
    expect(reports.length).toBeLessThan(7);
    expect(reports[0]).toContain("No node has estimated the payment");
    expect(count()).toBe(2);
    // One was cancelled, and is not tried any more.
    for (let second = 0; second < 400; second++) {
      await idsOf(bad.slice(1));
      wait(1000);
    }
    expect(count()).toBe(1);
    await idsOf([paymentOf("b", 0)]);
    wait(60_000);
    await idsOf([paymentOf("b", 0)]);
    expect(count()).toBe(0);
  });
});
