import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import type { ChainBlock, ChainNode } from "../../../../src/app/chain/chain-node.js";
import { stateNonce } from "../../../../src/store/chain/resume-chain.js";
import { sql } from "../../../../src/store/core/sql.js";
import { auditLedger } from "../../../../src/store/ledger/audit-ledger.js";
import { createTransactionStore } from "../../../../src/store/transactions/transactions.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { modelAssets } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

const usdc = "USDC.SIM";

describe("a wallet whose nonce something else has used", () => {
  let driven: DrivenChain;
  let wallet: ChainWallet;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  beforeEach(async () => {
    driven.ports.node = driven.honest.node;
    wallet = await driven.createFunded();
  });
  afterAll(() => driven.stop());

  const state = (nonce: number, paysWaiting = true) => {
    const { tenantId, walletId } = wallet;
    const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", walletId, new Date());
    return stateNonce(driven.keyed, wallet, { nonce, paysWaiting }, entry);
  };
  const haltOf = async () => {
    const [row] = await driven.database.query<{ reason: string | null; stated: string | null }>(
      sql`SELECT halted_reason AS reason, stated_nonce AS stated FROM chain_wallets WHERE wallet_id = ${wallet.walletId}`,
    );
    return row ?? { reason: null, stated: null };
  };
  /** Wallets are compared when a block is settled: at the next one if something has happened to them. */
  const compared = async (isExpected: (halt: Awaited<ReturnType<typeof haltOf>>) => boolean) => {
    driven.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 1n }]);
    await driven.settle();
    return await eventually(haltOf, isExpected);
  };
  const halted = (reason: string) => compared((halt) => halt.reason?.includes(reason) === true);
  const resumed = () => compared((halt) => halt.reason === null);
  const steal = (amount: bigint, asset = modelCoin) => driven.chain.credit(wallet.address, asset, -amount);
  const losses = () =>
    driven.database.query<{ id: string; amount: string; asset: string; reference: string }>(sql`
      SELECT id, amount, asset, reference FROM transactions
      WHERE source_account_id = ${wallet.walletId} AND reference LIKE 'missing %' ORDER BY id
    `);
  async function expectBooksEqualChain(): Promise<void> {
    for (const asset of [modelCoin, usdc])
      expect([asset, await driven.booked(wallet, asset)]).toEqual([
        asset,
        balanceOf(driven.chain.final().balances, wallet.address, asset),
      ]);
    for (const { what, violations } of await auditLedger(driven.database))
      expect([what, violations]).toEqual([what, []]);
    expect(driven.errors).toEqual([]);
  }

  it("goes on when the operator has stated its final nonce: a payment with that nonce fails, and nothing is paid twice", async () => {
    const paidBefore = balanceOf(driven.chain.head().balances, outside, modelCoin);
    const [taken, sent] = [
      await driven.pay(wallet, outside, modelCoin, 10n),
      await driven.pay(wallet, outside, modelCoin, 20n),
    ];
    await driven.inPool(2);
    // The stranger's transaction with our first nonce comes first, and ours with the second one follows it.
    driven.chain.useNonce(wallet.address);
    steal(777n);
    await driven.settle();
    await driven.until(sent, "completed");
    await halted("2 transactions of");
    const waiting = await driven.pay(wallet, outside, modelCoin, 40n);
    await driven.settle();
    expect([(await driven.read(taken)).state, (await driven.read(waiting)).state]).toEqual([
      "broadcast",
      "processing",
    ]);
    // Only if the operator says that none of it is on the chain already.
    expect(await state(2, false)).toEqual({ waiting: [{ id: waiting, cancelRequested: false }] });
    expect(await haltOf()).toMatchObject({ stated: null });
    expect(await state(2)).toBe("stated");
    await resumed();
    expect(await driven.read(taken)).toMatchObject({
      failure: "NONCE_TAKEN",
      states: ["processing", "broadcast", "failed"],
    });
    expect(await losses()).toMatchObject([{ amount: "777", asset: modelCoin }]);
    await driven.inPool(1);
    expect(await driven.nonceOf(waiting)).toBe(2);
    await driven.settle();
    await driven.until(waiting, "completed");
    expect(balanceOf(driven.chain.head().balances, outside, modelCoin) - paidBefore).toBe(60n);
    expect(await state(3)).toBe("unchanged");
    await expectBooksEqualChain();
    const audited = await driven.database.query<{ code: string | null; action: string }>(
      sql`SELECT action, code FROM audit_entries WHERE action IN ('wallet.adopt', 'wallet.halt') ORDER BY occurred_at`,
    );
    expect(audited).toMatchObject([
      { action: "wallet.halt", code: "NONCE_USED_ELSEWHERE" },
      { action: "wallet.adopt" },
    ]);
  });

  it("stays halted if the chain does not say what the operator has stated, and nothing changes", async () => {
    const taken = await driven.pay(wallet, outside, modelCoin, 10n);
    await driven.inPool(1);
    driven.chain.useNonce(wallet.address);
    driven.chain.useNonce(wallet.address);
    await driven.settle();
    await halted("2 transactions of");
    for (const wrong of [1, 3, 0]) {
      expect(await state(wrong)).toBe("stated");
      await compared(({ stated }) => stated === null);
      expect((await haltOf()).reason).toContain("2 transactions of");
      expect((await driven.read(taken)).state).toBe("broadcast");
    }
    await state(2);
    await resumed();
    expect(await driven.until(taken, "failed")).toMatchObject({ failure: "NONCE_TAKEN" });
    await expectBooksEqualChain();
  });

  /** A node whose blocks lack our own transactions. Those from outside have short hashes in the model. */
  const omitting = (node: ChainNode): ChainNode => {
    const isOmitted = (hash: string) => hash.length === 66;
    const omit = (block: ChainBlock) => ({
      ...block,
      transfers: block.transfers.filter(({ hash }) => !isOmitted(hash)),
      outcomes: block.outcomes.filter(({ hash }) => !isOmitted(hash)),
    });
    return {
      ...node,
      block: async (...given) => {
        const block = await node.block(...given);
        return block === undefined ? undefined : omit(block);
      },
      finalBlocks: async (...given) => (await node.finalBlocks(...given)).map(omit),
    };
  };
  /** Two nodes, of which one never has what it leaves out. */
  const ofTwo = (node: ChainNode): ChainNode => ({ ...node, findIncluded: async () => [] });

  /** What was found in a block is settled with the next one, and compared then. */
  const settledAndResumed = async () => {
    await driven.settle();
    await resumed();
  };

  it("completes a payment that a node has left out of its block: that no block shows it is no evidence", async () => {
    driven.ports.node = ofTwo(omitting(driven.honest.node));
    const paid = await driven.pay(wallet, outside, modelCoin, 10n);
    await driven.inPool(1);
    await driven.settle();
    driven.ports.node = ofTwo(driven.honest.node);
    await halted("1 transactions of");
    expect((await driven.read(paid)).state).toBe("broadcast");
    await state(1);
    await settledAndResumed();
    expect(await driven.read(paid)).toMatchObject({
      failure: null,
      states: ["processing", "broadcast", "confirming", "completed"],
    });
    expect(await losses()).toEqual([]);
    await expectBooksEqualChain();
  });

  it("credits an own wallet once for a payment that a node has left out", async () => {
    const other = await driven.createFunded(0n);
    driven.ports.node = ofTwo(omitting(driven.honest.node));
    const paid = await driven.pay(wallet, other, modelCoin, 10n);
    await driven.inPool(1);
    await halted("1 transactions of");
    driven.ports.node = ofTwo(driven.honest.node);
    // A block that touches it, so that it is compared while the payment is open.
    driven.chain.pay([{ asset: modelCoin, from: outside, to: other.address, amount: 1n }]);
    await driven.settle();
    await state(1);
    await settledAndResumed();
    await driven.until(paid, "completed");
    await driven.settle();
    expect(await driven.booked(other, modelCoin)).toBe(11n);
    expect((await driven.deposits(other)).length).toBe(1);
    await expectBooksEqualChain();
  });

  it("completes a payment whose bytes the books have forgotten, and cancels one that was cancelled", async () => {
    const [paid, cancelled] = [
      await driven.pay(wallet, outside, modelCoin, 10n),
      await driven.pay(wallet, outside, modelCoin, 20n),
    ];
    await driven.inPool(2);
    await driven.requestCancel(wallet, cancelled);
    await eventually(
      async () => driven.chain.pool(),
      (pool) => pool.some(({ intent }) => intent?.purpose === "cancellation"),
    );
    // As in a backup from before the attempts: the first has none, and the second only the one that pays.
    await driven.database.query(sql`
      DELETE FROM chain_attempts WHERE transaction_id = ${paid} OR (transaction_id = ${cancelled} AND number > 1)
    `);
    await driven.database.query(sql`
      UPDATE chain_payments SET attempt = number, wanted = number FROM (VALUES (${paid}::uuid, 0), (${cancelled}::uuid, 1)) AS g (id, number)
      WHERE transaction_id = g.id
    `);
    driven.mine(5);
    await halted("2 transactions of");
    await state(2);
    await settledAndResumed();
    expect(await driven.until(paid, "completed")).toMatchObject({ failure: null });
    expect((await driven.until(cancelled, "cancelled")).failure).toBe(null);
    expect(await losses()).toEqual([]);
    await expectBooksEqualChain();
  });

  it("stays halted while nothing shows what has used the nonce, and the payment is not failed", async () => {
    const sent = await driven.pay(wallet, outside, modelCoin, 10n);
    await driven.inPool(1);
    driven.chain.useNonce(wallet.address, "authorisation");
    await driven.settle();
    await halted("1 transactions of");
    await state(1);
    await halted("No node shows which transaction has used nonce 0");
    expect((await driven.read(sent)).state).toBe("broadcast");
    expect(await haltOf()).toMatchObject({ stated: null });
  });

  it("goes on after a restore of old books: what was paid since is recorded, and the next nonce is the chain's", async () => {
    driven.chain.useNonce(wallet.address);
    driven.chain.useNonce(wallet.address);
    steal(5000n);
    await driven.settle();
    const waiting = await driven.pay(wallet, outside, modelCoin, 30n);
    await halted("used elsewhere");
    await state(2);
    await resumed();
    await driven.inPool(1);
    expect(await driven.nonceOf(waiting)).toBe(2);
    await driven.settle();
    await driven.until(waiting, "completed");
    const recorded = await losses();
    expect(recorded).toMatchObject([{ amount: "5000", asset: modelCoin }]);
    // Only what the service has written itself is sent in webhooks.
    const { readVerified } = createTransactionStore(driven.keyed, modelAssets);
    const ids = recorded.map(({ id }) => id);
    expect((await readVerified(wallet.tenantId, ids)).map((one) => one.isTampered ?? false)).toEqual([false]);
    await expectBooksEqualChain();
  });

  it("ends nothing while the chain is ahead, not even what a client cancels: it may have been paid", async () => {
    driven.chain.useNonce(wallet.address);
    await driven.settle();
    const waiting = await driven.pay(wallet, outside, modelCoin, 30n);
    await halted("used elsewhere");
    await driven.requestCancel(wallet, waiting);
    await driven.settle();
    expect((await driven.read(waiting)).state).toBe("processing");
    expect(await state(1, false)).toEqual({ waiting: [{ id: waiting, cancelRequested: true }] });
    await state(1);
    await resumed();
    expect((await driven.until(waiting, "cancelled")).failure).toBe(null);
    await expectBooksEqualChain();
  });

  it("stays halted while payments hold what is missing, and goes on when they are cancelled", async () => {
    driven.chain.pay([{ asset: usdc, from: outside, to: wallet.address, amount: 500n }]);
    await driven.settle();
    driven.chain.useNonce(wallet.address);
    steal(200n, usdc);
    await driven.settle();
    await halted("used elsewhere");
    const holding = await driven.pay(wallet, outside, usdc, 400n);
    await state(1);
    await halted("200 base units of USDC.SIM are missing on the chain");
    expect(await losses()).toEqual([]);
    // A halted wallet gives no nonces, and ends what has none.
    await driven.requestCancel(wallet, holding);
    await driven.until(holding, "cancelled");
    await state(1);
    await resumed();
    expect(await losses()).toMatchObject([{ amount: "200", asset: usdc }]);
    await expectBooksEqualChain();
  });
});
