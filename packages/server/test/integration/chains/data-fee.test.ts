import { afterAll, describe, expect, it } from "vitest";
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

const devnet = useDevnet(["--kind", "op"]);
afterAll(closeNodes);
const usdc = devnetTokens[0]?.contract as string;

const dearFee = {
  baseFee: "20000000000",
  baseFeeScalar: "5227",
  blobBaseFee: "3000000",
  blobBaseFeeScalar: "1014213",
  operatorFeeScalar: "2000000",
  operatorFeeConstant: "777",
};

/** Pays coins and tokens; returns what was estimated, charged, and missing from the account. */
async function pay() {
  const account = await fundedAccount(devnet(), { USDC: 100n });
  const from = account.address.toLowerCase();
  const destination = newAddress();
  const node = openNode(devnet(), { hasDataFee: true });
  await node.heads();
  const estimates = await node.estimate([
    { from, contract: null, destination, amount: 5n },
    { from, contract: usdc, destination, amount: 7n },
  ]);
  const terms = await node.market();
  const { head } = await devnet().control("devnet_status", {});
  const hashes: string[] = [];
  for (const [nonce, estimate] of estimates.entries()) {
    if (!("gasLimit" in estimate)) throw new Error(estimate.refused);
    const call =
      nonce === 0
        ? { to: destination, value: 5n }
        : { to: usdc, data: encodeCall("transfer", [destination, 7n]) };
    const raw = await signPayment(account, { nonce, gas: estimate.gasLimit, ...terms, ...call });
    hashes.push(await sendRaw(devnet(), raw));
  }
  const [block] = await devnet().control("devnet_mine", {});
  if (block === undefined) throw new Error("no block");
  const outcomes = (await node.block(block.hash, watchFor([], hashes)))?.outcomes ?? [];
  const accounts = [{ address: from, contract: null }];
  const [before = 0n] = await node.balances(accounts, head);
  const [after = 0n] = await node.balances(accounts, block);
  const gasFees: bigint[] = [];
  for (const hash of hashes) {
    const receipt = (await devnet().request("eth_getTransactionReceipt", [hash])) as Record<string, string>;
    gasFees.push(BigInt(receipt["gasUsed"] ?? 0) * BigInt(receipt["effectiveGasPrice"] ?? 0));
  }
  return { estimates, outcomes, gasFees, spent: before - after };
}

describe("a network with a data fee", () => {
  it.each([
    ["at first", undefined],
    ["with an operator fee, when data has become dear", dearFee],
  ])("%s charges what the outcome says to the wei, and no more than was estimated", async (_, fee) => {
    if (fee !== undefined) await devnet().control("devnet_setDataFee", fee);
    const { estimates, outcomes, gasFees, spent } = await pay();
    expect(outcomes.map(({ success }) => success)).toEqual([true, true]);
    expect(spent).toBe(5n + outcomes.reduce((sum, outcome) => sum + outcome.fee, 0n));
    for (const [index, outcome] of outcomes.entries()) {
      const { dataFee } = estimates[index] as { dataFee: bigint };
      const charged = outcome.fee - (gasFees[index] ?? 0n);
      expect(charged).toBeGreaterThan(0n);
      expect(charged).toBeLessThanOrEqual(dataFee);
    }
  });

  it("must be configured as one", async () => {
    expect(await openNode(devnet(), { hasDataFee: true }).probe()).toEqual([]);
    await expect(openNode(devnet(), { hasDataFee: false }).probe()).rejects.toThrow("Set data_fee to true.");
  });
});
