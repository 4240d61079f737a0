import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import type { SigningIntent } from "../../../../src/app/chain/signer.js";
import { resumeWallet, stateNonce } from "../../../../src/store/chain/resume-chain.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* A database that was restored from a backup has forgotten what the signer has signed, and no block has it. */

let driven: DrivenChain;
let wallet: ChainWallet;
beforeAll(async () => {
  driven = await startDrivenChain();
});
beforeEach(async () => {
  wallet = await driven.createFunded();
});
afterAll(() => driven.stop());

/** Before the first request with this purpose, the signer has signed something else for it. */
function forget(purpose: SigningIntent["purpose"], change: (intent: SigningIntent) => SigningIntent): void {
  const { sign } = driven.honest.signer;
  let isForgotten = false;
  driven.ports.signer = {
    ...driven.honest.signer,
    sign: async (intents) => {
      const first = intents.find((intent) => intent.purpose === purpose);
      if (first !== undefined && !isForgotten) {
        isForgotten = true;
        await sign([change(first)]);
      }
      return await sign(intents);
    },
  };
}

const haltOf = async () => {
  const [row] = await driven.database.query<{ reason: string | null }>(
    sql`SELECT halted_reason AS reason FROM chain_wallets WHERE wallet_id = ${wallet.walletId}`,
  );
  return row?.reason ?? null;
};
const twice = (intent: SigningIntent) => ({
  ...intent,
  maxFeePerGas: 2n * intent.maxFeePerGas,
  maxPriorityFeePerGas: 2n * intent.maxPriorityFeePerGas,
});

it("a payment whose first signature was forgotten is signed with higher fees, and is paid once", async () => {
  forget("payment", twice);
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await eventually(
    async () => [driven.chain.pool().length, await haltOf()],
    ([inPool, reason]) => inPool === 1 || reason !== null,
  );
  expect(await haltOf()).toBeNull();
  await driven.settle();
  expect(await driven.until(id, "completed")).toMatchObject({ failure: null });
});

it("a replacement that was forgotten is raised above it", async () => {
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.inPool(1);
  const [sent] = driven.chain.pool();
  forget("replacement", twice);
  await driven.database.query(
    sql`UPDATE chain_payments SET speed_up_requested = true WHERE transaction_id = ${id}`,
  );
  driven.mine(0);
  driven.wake();
  const isRaised = () =>
    (driven.chain.pool()[0]?.intent?.maxFeePerGas ?? 0n) > 2n * (sent?.intent?.maxFeePerGas ?? 0n);
  await eventually(
    async () => [isRaised(), await haltOf()],
    ([raised, reason]) => raised === true || reason !== null,
  );
  expect(await haltOf()).toBeNull();
  await driven.settle();
  await driven.until(id, "completed");
});

it("a forgotten cancellation halts the wallet, which goes on when the payment is cancelled again", async () => {
  forget("payment", (intent) => ({
    ...twice(intent),
    ...{ purpose: "cancellation", contract: null, destination: intent.address, amount: 0n },
  }));
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  expect(await eventually(haltOf, (reason) => reason !== null)).toContain("which uses the nonce, and resume");
  await driven.requestCancel(wallet, id);
  const { tenantId, walletId } = wallet;
  const entry = describeAct({ by: "operator", tenantId }, "wallet.resume", walletId, new Date());
  await resumeWallet(driven.keyed, wallet, entry);
  driven.wake();
  await driven.inPool(1);
  await driven.settle();
  expect((await driven.until(id, "cancelled")).failure).toBeNull();
  expect(await haltOf()).toBeNull();
});

it("a payment whose nonce another one was given does not end while the signer refuses, also if it is cancelled", async () => {
  const forgotten = await driven.accept(wallet, outside, modelCoin, 20n);
  forget("payment", (intent) => ({ ...intent, transactionId: forgotten, amount: 20n }));
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  expect(await eventually(haltOf, (reason) => reason !== null)).toContain("(NONCE_USED)");
  let asked = 0;
  driven.ports.node = {
    ...driven.honest.node,
    noncesAt: (...given) => {
      asked += 1;
      return driven.honest.node.noncesAt(...given);
    },
  };
  await driven.requestCancel(wallet, forgotten);
  await driven.begin(wallet, forgotten);
  // Each step of the driver lists it, and asks for the nonces.
  await eventually(
    async () => [asked, (await driven.read(forgotten)).state],
    ([count, state]) => Number(count) >= 5 || state !== "processing",
  );
  expect((await driven.read(forgotten)).state).toBe("processing");
  driven.ports.node = driven.honest.node;
  // The operator finds that something else has used the nonce.
  driven.chain.useNonce(wallet.address);
  await driven.settle();
  const { tenantId, walletId } = wallet;
  const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", walletId, new Date());
  await stateNonce(driven.keyed, wallet, { nonce: 1, paysWaiting: true }, entry);
  await driven.settle();
  await driven.settle();
  await driven.until(forgotten, "cancelled");
  // Nothing was signed for the other one, whose nonce was taken back.
  await driven.inPool(1);
  expect(await driven.nonceOf(id)).toBe(1);
  await driven.settle();
  await driven.until(id, "completed");
});

it("a forgotten signature whose raised fees are above the signer's limit halts the wallet", async () => {
  forget("payment", twice);
  const { sign } = driven.ports.signer;
  driven.ports.signer = {
    sign: async (intents) =>
      (await sign(intents)).map((answer, index) =>
        intents[index]?.purpose === "replacement"
          ? { refused: "FEE_ABOVE_LIMIT", reason: "5 is the limit" }
          : answer,
      ),
  };
  await driven.pay(wallet, outside, modelCoin, 10n);
  const reason = await eventually(haltOf, (one) => one !== null);
  expect(reason).toContain("(FEE_ABOVE_LIMIT)");
});

it("a cancellation whose raised fees are above the signer's limit waits for a higher limit, and says so", async () => {
  const { sign } = driven.honest.signer;
  let state: "down" | "limited" | "up" = "down";
  let limit: bigint | undefined;
  const signOne = async (intent: SigningIntent) => {
    if (limit === undefined) {
      limit = intent.maxFeePerGas;
      await sign([{ ...twice(intent), purpose: "payment", destination: outside, amount: 10n }]);
    }
    if (state === "limited" && intent.maxFeePerGas > limit)
      return { refused: "FEE_ABOVE_LIMIT", reason: "5 is the limit." } as const;
    return (await sign([intent]))[0] as Awaited<ReturnType<typeof sign>>[number];
  };
  driven.ports.signer = {
    sign: async (intents) => {
      if (state === "down") throw new Error("the signer is down");
      return await Promise.all(intents.map(signOne));
    },
  };
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await eventually(
    () => driven.nonceOf(id),
    (nonce) => nonce !== null,
  );
  await driven.requestCancel(wallet, id);
  state = "limited";
  await eventually(async () => driven.shortages.some((one) => one.includes("Raise its limit")), Boolean);
  state = "up";
  await driven.inPool(1);
  await driven.settle();
  await driven.until(id, "cancelled");
  driven.errors.splice(0);
});
