import { contracts } from "@bursar/devnet";
import { parseGwei } from "viem";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { PaymentDraft } from "../../../src/app/chain/chain-node.js";
import { raiseFees } from "../../../src/rails/evm/fees/raise-fees.js";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  sendRaw,
  signPayment,
  useDevnet,
} from "../../harness/chain/devnet.js";
import { resultsOf, startHostileNode } from "../../harness/chain/hostile-node.js";

const devnet = useDevnet();
afterAll(closeNodes);
afterEach(async () => {
  await devnet().control("devnet_setPool", { mode: "mempool" });
  await devnet().control("devnet_setBaseFee", {});
  for (const node of ["main", "second"] as const) {
    await devnet().control("devnet_setConditions", { node, conditions: {} });
    await devnet().control("devnet_clearFaults", { node });
  }
});

const addFault = (node: "main" | "second", method: string, effect: object) =>
  devnet().control("devnet_addFault", { node, fault: { methods: [method], effect: effect as never } });
const token = (name: (typeof devnetTokens)[number]["asset"]) =>
  devnetTokens.find(({ asset }) => asset === name)?.contract as string;

describe("an estimate", () => {
  it("says what each payment needs, and which would fail", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n, NORET: 100n, FALSE: 100n });
    const from = account.address.toLowerCase();
    const destination = newAddress();
    const draft = (contract: string | null, amount: bigint, to: string = destination): PaymentDraft => ({
      from,
      contract,
      destination: to,
      amount,
    });
    const node = openNode(devnet());
    await node.heads();
    const [plain, wallet, usdc, noret, ...failing] = await node.estimate([
      draft(null, 5n),
      draft(null, 5n, contracts.receiver.address.toLowerCase()),
      draft(token("USDC"), 100n),
      draft(token("NORET"), 100n),
      draft(token("USDC"), 101n),
      draft(token("FALSE"), 100n),
      draft(null, 5n, contracts.USDC.address.toLowerCase()),
    ]);
    expect(failing).toEqual(Array(3).fill({ refused: "WOULD_REVERT" }));
    expect(gasOf(plain)).toBeLessThan(21_100n);
    expect(gasOf(wallet)).toBeGreaterThan(22_000n);
    for (const estimate of [usdc, noret]) expect(gasOf(estimate)).toBeGreaterThan(40_000n);
    // What a contract needs to receive is more than the gas of a plain transfer, and the estimate is enough.
    const raw = await signPayment(account, {
      nonce: 0,
      to: contracts.receiver.address,
      value: 5n,
      gas: gasOf(wallet),
    });
    const hash = await sendRaw(devnet(), raw);
    await devnet().control("devnet_mine", {});
    expect(await devnet().request("eth_getTransactionReceipt", [hash])).toMatchObject({ status: "0x1" });
  });

  const gasOf = (estimate: unknown): bigint => (estimate as { gasLimit: bigint }).gasLimit;

  it("is unavailable, and not a refusal, if one of two nodes refuses and the other says nothing", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n });
    const draft = { from: account.address.toLowerCase(), destination: newAddress(), amount: 5n };
    const drafts = [
      { ...draft, contract: token("USDC") },
      { ...draft, contract: null },
    ];
    const node = openNode(devnet());
    await node.heads();
    expect((await node.estimate(drafts)).map(gasOf)).not.toContain(undefined);
    const reverted = { kind: "error", code: 3, message: "execution reverted", carriedOut: false };
    for (const method of ["eth_estimateGas", "eth_call"]) {
      await addFault("main", method, reverted);
      await addFault("second", method, { kind: "wrong", result: "a lot" });
    }
    expect(await node.estimate(drafts)).toEqual(Array(2).fill({ refused: "UNAVAILABLE" }));
    const alone = openNode(devnet(), { rpcUrls: [devnet().url] });
    await alone.heads();
    expect(await alone.estimate(drafts)).toEqual(Array(2).fill({ refused: "WOULD_REVERT" }));
  });

  it("is unavailable, and not a refusal, if nodes lag, fail or answer something else", async () => {
    const account = await fundedAccount(devnet());
    const from = account.address.toLowerCase();
    const drafts = [{ from, contract: null, destination: newAddress(), amount: 5n }];
    const node = openNode(devnet());
    await node.heads();
    for (const name of ["main", "second"] as const)
      await devnet().control("devnet_setConditions", { node: name, conditions: { lagBlocks: 1 } });
    expect(await node.estimate(drafts)).toEqual([{ refused: "UNAVAILABLE" }]);
    await devnet().control("devnet_setConditions", { node: "second", conditions: {} });
    expect(await node.estimate(drafts)).toMatchObject([{ dataFee: 0n }]);
    await devnet().control("devnet_setConditions", { node: "main", conditions: {} });
    await addFault("main", "eth_estimateGas", { kind: "wrong", result: "a lot" });
    await addFault("second", "eth_estimateGas", {
      kind: "error",
      code: -32_000,
      message: "?",
      carriedOut: false,
    });
    expect(await node.estimate(drafts)).toEqual([{ refused: "UNAVAILABLE" }]);
  });

  it.each([
    ["less gas than any transaction needs", "0x5207"],
    ["no gas", "0x0"],
    ["more gas than the node was allowed", `0x${(3_000_001).toString(16)}`],
    ["gas of 256 bits", `0x8${"0".repeat(63)}`],
  ])("does not believe %s, and takes that of another node", async (_, gas) => {
    const account = await fundedAccount(devnet());
    const draft = { from: account.address.toLowerCase(), contract: null, destination: newAddress() };
    const node = openNode(devnet());
    await node.heads();
    await addFault("main", "eth_estimateGas", { kind: "wrong", result: gas });
    const [estimate] = await node.estimate([{ ...draft, amount: 5n }]);
    expect(gasOf(estimate)).toBeGreaterThanOrEqual(21_000n);
    expect(gasOf(estimate)).toBeLessThan(21_100n);
  });
});

describe("the market", () => {
  it("is twice the next base fee and a tip, within the cap", async () => {
    await devnet().control("devnet_setBaseFee", { wei: parseGwei("20").toString(), hold: true });
    await devnet().control("devnet_mine", { blocks: 11 });
    const terms = { maxFeePerGas: parseGwei("41"), maxPriorityFeePerGas: parseGwei("1") };
    const { maxFeePerGas, maxPriorityFeePerGas } = await openNode(devnet()).market();
    expect(maxPriorityFeePerGas).toBe(terms.maxPriorityFeePerGas);
    // The next base fee is lower, because the blocks are empty.
    expect(maxFeePerGas).toBeLessThanOrEqual(terms.maxFeePerGas);
    expect(maxFeePerGas).toBeGreaterThan(parseGwei("30"));
    const capped = openNode(devnet(), { feeCap: parseGwei("10") });
    expect((await capped.market()).maxFeePerGas).toBe(parseGwei("10"));
    const floor = openNode(devnet(), { minimumTip: parseGwei("25"), tipMax: parseGwei("50") });
    expect((await floor.market()).maxPriorityFeePerGas).toBe(parseGwei("25"));
  });

  it("is known without a history of fees", async () => {
    for (const name of ["main", "second"] as const)
      await addFault(name, "eth_feeHistory", {
        kind: "error",
        code: -32_601,
        message: "no",
        carriedOut: false,
      });
    const { maxFeePerGas, maxPriorityFeePerGas } = await openNode(devnet()).market();
    expect(maxPriorityFeePerGas).toBe(parseGwei("1"));
    expect(maxFeePerGas).toBeGreaterThan(parseGwei("1"));
  });
});

describe("sending", () => {
  it.each(["already known", "Known transaction: 0x12", "transaction already imported", "something new"])(
    "decides nothing on an error such as `%s`: the bytes are in a block all the same",
    async (message) => {
      const account = await fundedAccount(devnet());
      const raw = await signPayment(account, { nonce: 0, to: newAddress(), value: 1n, gas: 21_000n });
      for (const name of ["main", "second"] as const)
        await addFault(name, "eth_sendRawTransaction", {
          kind: "error",
          code: -32_000,
          message,
          carriedOut: name === "main",
        });
      expect(await openNode(devnet()).send([raw])).toEqual(["refused"]);
      const [block] = await devnet().control("devnet_mine", {});
      const found = await devnet().request("eth_getBlockTransactionCountByHash", [block?.hash]);
      expect(found).toBe("0x1");
    },
  );

  it("is unknown if the answer is lost, and the same bytes can be sent again", async () => {
    const account = await fundedAccount(devnet());
    const raw = await signPayment(account, { nonce: 0, to: newAddress(), value: 1n, gas: 21_000n });
    const node = openNode(devnet());
    for (const name of ["main", "second"] as const)
      await addFault(name, "eth_sendRawTransaction", { kind: "lost" });
    expect(await node.send([raw])).toEqual(["unknown"]);
    expect(await node.send([raw])).toEqual(["unknown"]);
    expect((await devnet().control("devnet_status", {})).pooled).toBe(1);
    await devnet().control("devnet_mine", {});
  });

  it("succeeds if one of the nodes takes the bytes", async () => {
    const account = await fundedAccount(devnet());
    const raws = [0, 1, 2].map((nonce) =>
      signPayment(account, { nonce, to: newAddress(), value: 1n, gas: 21_000n }),
    );
    await addFault("main", "eth_sendRawTransaction", { kind: "cut" });
    expect(await openNode(devnet()).send(await Promise.all(raws))).toEqual(["taken", "taken", "taken"]);
    await devnet().control("devnet_mine", {});
  });

  it("keeps the order on a network without a pool, which refuses a nonce that is not the next", async () => {
    await devnet().control("devnet_setPool", { mode: "sequencer" });
    const account = await fundedAccount(devnet());
    const raws = await Promise.all(
      [0, 1, 2, 3].map((nonce) => signPayment(account, { nonce, to: newAddress(), value: 1n, gas: 21_000n })),
    );
    const node = openNode(devnet(), { hasPool: false, rpcUrls: [devnet().url] });
    expect(await node.send(raws.slice(1))).toEqual(["refused", "refused", "refused"]);
    expect(await node.send(raws)).toEqual(["taken", "taken", "taken", "taken"]);
    await devnet().control("devnet_mine", {});
  });

  it("waits for each answer on a network without a pool, and not on others", async () => {
    let underWay = 0;
    const most: number[] = [];
    const sequencer = await startHostileNode((calls, reply) => {
      underWay += 1;
      most.push(underWay * calls.length);
      setTimeout(() => {
        underWay -= 1;
        reply(resultsOf(calls, () => `0x${"12".repeat(32)}`));
      }, 10);
    });
    const raws = ["0x01", "0x02", "0x03"];
    await openNode(devnet(), { hasPool: false, rpcUrls: [sequencer.url] }).send(raws);
    expect(most).toEqual([1, 1, 1]);
    expect(sequencer.requests.flat().map(({ params }) => params[0])).toEqual(raws);
    await openNode(devnet(), { hasPool: true, rpcUrls: [sequencer.url] }).send(raws);
    expect(most).toEqual([1, 1, 1, 3]);
  });

  it("replaces a transaction with raised fees, which the node refuses if one of them is too low", async () => {
    const account = await fundedAccount(devnet());
    const terms = { maxFeePerGas: parseGwei("30"), maxPriorityFeePerGas: parseGwei("2") };
    const signWith = (fees: typeof terms) =>
      signPayment(account, { nonce: 0, to: newAddress(), value: 1n, gas: 21_000n, ...fees });
    const node = openNode(devnet());
    const raised = raiseFees(terms, await node.market(), parseGwei("500"));
    if (raised === "cap_reached") throw new Error("the cap is reached");
    const half = { ...raised, maxPriorityFeePerGas: terms.maxPriorityFeePerGas };
    const attempts = [await signWith(terms), await signWith(half), await signWith(raised)];
    const outcomes: string[] = [];
    for (const raw of attempts) outcomes.push(...(await node.send([raw])));
    expect(outcomes).toEqual(["taken", "refused", "taken"]);
    await devnet().control("devnet_mine", {});
  });
});
