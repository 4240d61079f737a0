import { contracts } from "@bursar/devnet";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { isPaidExactly } from "../../../src/rails/evm/transaction/paid-exactly.js";
import {
  closeNodes,
  devnetTokens,
  encodeCall,
  fundedAccount,
  newAddress,
  openNode,
  sendRaw,
  signPayment,
  useDevnet,
  watchFor,
} from "../../harness/chain/devnet.js";

const devnet = useDevnet();
afterAll(closeNodes);
afterEach(async () => {
  for (const node of ["main", "second"] as const) {
    await devnet().control("devnet_setConditions", { node, conditions: {} });
    await devnet().control("devnet_clearFaults", { node });
  }
});

const mine = async () => {
  const [block] = await devnet().control("devnet_mine", {});
  return block as { number: number; hash: string };
};
const fund = (address: string, amount: bigint, asset: "ETH" | "USDC" | "LOGONLY") =>
  devnet().control("devnet_fund", { address, amount: amount.toString(), asset });
const token = (name: "USDC" | "FALSE" | "NORET" | "FEE" | "LOGONLY") =>
  devnetTokens.find(({ asset }) => asset === name)?.contract as string;

describe("a block", () => {
  it("has the coins and tokens that arrived at our addresses, and nothing else", async () => {
    const [ours, other] = [newAddress(), newAddress()];
    const hashes = [
      await fund(ours, 7n, "ETH"),
      await fund(other, 8n, "ETH"),
      await fund(ours, 9n, "USDC"),
      await fund(other, 10n, "USDC"),
    ];
    const { number, hash } = await mine();
    const watch = watchFor([ours]);
    const block = await openNode(devnet()).block(hash, watch);
    expect(block).toMatchObject({ number, hash, outcomes: [] });
    expect(block?.transfers).toMatchObject([
      { hash: hashes[0], ordinal: 0, asset: "ETH", to: ours, amount: 7n },
      { hash: hashes[2], ordinal: 1, asset: "USDC", to: ours, amount: 9n },
    ]);
    expect(watch.lookups).toBe(2);
  });

  it("has the outcomes of our attempts, with the fee to the wei", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n });
    const [to, node] = [newAddress(), openNode(devnet())];
    const coin = await signPayment(account, { nonce: 0, to, value: 5n, gas: 21_000n });
    const transfer = encodeCall("transfer", [to, 60n]);
    const paid = await signPayment(account, { nonce: 1, to: token("USDC"), data: transfer });
    const failing = await signPayment(account, { nonce: 2, to: token("USDC"), data: transfer });
    const hashes: string[] = [];
    for (const raw of [coin, paid, failing]) hashes.push(await sendRaw(devnet(), raw));
    const before = await devnet().control("devnet_status", {});
    const { number, hash } = await mine();
    const block = await node.block(hash, watchFor([], hashes));
    const from = account.address.toLowerCase();
    expect(block?.outcomes).toMatchObject([
      { success: true, transfers: [{ ordinal: 0, asset: "ETH", from, to, amount: 5n }] },
      { success: true, transfers: [{ ordinal: 1, asset: "USDC", from, to, amount: 60n }] },
      { success: false, transfers: [] },
    ]);
    const accounts = [{ address: from, contract: null }];
    const [had] = await node.balances(accounts, before.head);
    const [has] = await node.balances(accounts, { number, hash });
    const fees = (block?.outcomes ?? []).reduce((sum, { fee }) => sum + fee, 0n);
    expect((had as bigint) - (has as bigint)).toBe(5n + fees);
    const payment = { asset: "USDC", contract: token("USDC"), from, to, amount: 60n };
    expect(block?.outcomes.map((outcome) => isPaidExactly(outcome, payment))).toEqual([false, true, false]);
  });

  it("does not have coins of a transaction that failed", async () => {
    const account = await fundedAccount(devnet());
    const receiver = contracts.receiver.address.toLowerCase();
    const raw = await signPayment(account, { nonce: 0, to: receiver, value: 5n, gas: 21_100n });
    await sendRaw(devnet(), raw);
    const { hash } = await mine();
    const block = await openNode(devnet()).block(hash, watchFor([receiver]));
    expect(block?.transfers).toEqual([]);
  });

  it("that no node has is undefined, and one that a node lacks is read from the other", async () => {
    const ours = newAddress();
    await fund(ours, 7n, "USDC");
    const { hash } = await mine();
    const node = openNode(devnet());
    expect(await node.block(`0x${"ab".repeat(32)}`, watchFor([ours]))).toBeUndefined();
    await devnet().control("devnet_setConditions", { node: "main", conditions: { lagBlocks: 2 } });
    expect((await node.block(hash, watchFor([ours])))?.transfers).toHaveLength(1);
  });
});
