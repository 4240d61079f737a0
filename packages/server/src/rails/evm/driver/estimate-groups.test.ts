import { describe, expect, it } from "vitest";
import type { ChainNode, PaymentDraft } from "../../../app/chain/chain-node.js";
import type { ReadyPayment } from "../../../app/chain/chain-store.js";
import { createEstimates } from "./estimate-groups.js";

const network = { coin: "ETH", tokens: [] };
const gas = { gasLimit: 21_000n, dataFee: 0n };

const paymentOf = (walletId: string, number: number, destination = "0xgood") =>
  ({
    id: `${walletId}${number}`,
    walletId,
    address: walletId,
    asset: "ETH",
    destination,
    amount: 1n,
  }) as ReadyPayment;
const many = (walletId: string, count: number) =>
  Array.from({ length: count }, (_, number) => paymentOf(walletId, number));

/** A node that fails for every group with a bad destination, after this time. */
function startNode(failsAfterMs = 0) {
  let nowMs = 0;
  const groups: (readonly PaymentDraft[])[] = [];
  const estimate: ChainNode["estimate"] = async (drafts) => {
    groups.push(drafts);
    if (!drafts.some(({ destination }) => destination === "0xbad")) return drafts.map(() => gas);
    nowMs += failsAfterMs;
    return drafts.map(() => ({ refused: "UNAVAILABLE" }));
  };
  const estimates = createEstimates(() => nowMs);
  const context = { network, node: { estimate } } as unknown as Parameters<typeof estimates.estimate>[0];
  const idsOf = async (payments: readonly ReadyPayment[]) =>
    (await estimates.estimate(context, payments)).map(({ payment }) => payment.id).sort();
  const wait = (delayMs: number) => {
    nowMs += delayMs;
  };
  return { idsOf, groups, wait };
}

describe("estimates", () => {
  it("are asked for in groups of one wallet, of at most 8", async () => {
    const { idsOf, groups } = startNode();
    expect(await idsOf([...many("a", 20), ...many("b", 3)])).toHaveLength(23);
    expect(groups.map((group) => group.length)).toEqual([8, 8, 4, 3]);
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
    const bad = Array.from({ length: 6 }, (_, number) => paymentOf(`bad${number}`, number, "0xbad"));
    expect(await idsOf(bad)).toEqual([]);
    expect(groups).toHaveLength(4);
    wait(600_000);
    groups.length = 0;
    expect(await idsOf([...bad.slice(0, 4), ...many("good", 1)])).toEqual(["good0"]);
    expect(groups[0]?.[0]?.from).toBe("good");
  });
});
