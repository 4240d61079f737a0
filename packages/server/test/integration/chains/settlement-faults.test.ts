import { showId } from "@bursar/protocol";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import { presentNetwork } from "../../../src/app/chain/present-network.js";
import { chainMetrics } from "../../../src/app/metrics/chain-metrics.js";
import { readNetworks } from "../../../src/store/chain/read-networks.js";
import { resumeWallet } from "../../../src/store/chain/resume-chain.js";
import { listUnowned } from "../../../src/store/chain/unowned-rows.js";
import { sql } from "../../../src/store/core/sql.js";
import type { ChainWallet } from "../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../harness/chain/model-network.js";
import { createServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";

const usdc = "USDC.SIM";
const deposited = 1_000_000_000n;

describe("a row that cannot be settled", () => {
  let driven: DrivenChain;
  let faulty: ChainWallet;
  let own: ChainWallet;
  /** Of another tenant. */
  let other: ChainWallet;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  beforeEach(async () => {
    faulty = await driven.createFunded();
    own = await driven.createFunded();
    other = await driven.createWallet(await driven.createTenant());
    await deposit(other);
    await driven.settle();
    await creditedTo(other, deposited);
  });
  afterEach(() => expect(driven.errors).toEqual([]));
  afterAll(() => driven.stop());

  const deposit = async (wallet: ChainWallet, amount = deposited, asset = modelCoin) =>
    driven.chain.pay([{ asset, from: outside, to: wallet.address, amount }]);
  const creditedTo = (wallet: ChainWallet, amount: bigint) =>
    eventually(
      () => driven.booked(wallet, modelCoin),
      (booked) => booked === amount,
    );
  const haltOf = async ({ walletId }: ChainWallet) =>
    (
      await driven.database.query<{ reason: string | null }>(
        sql`SELECT halted_reason AS reason FROM chain_wallets WHERE wallet_id = ${walletId}`,
      )
    )[0]?.reason;
  const resume = (wallet: ChainWallet) => {
    const act = { by: "operator", tenantId: wallet.tenantId } as const;
    const entry = describeAct(act, "wallet.resume", showId("wlt", wallet.walletId), new Date());
    return resumeWallet(driven.keyed, wallet, entry);
  };
  const onChain = (wallet: ChainWallet) =>
    balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  async function lastDeposit(wallet: ChainWallet): Promise<string> {
    const ids = await eventually(
      () =>
        driven.database.query<{ id: string }>(sql`
          SELECT c.transaction_id AS id FROM chain_deposits c WHERE c.wallet_id = ${wallet.walletId} AND c.state = 'seen'
            AND c.transaction_id IS NOT NULL`),
      ({ length }) => length === 1,
    );
    return ids[0]?.id ?? "";
  }

  /** What `GET /v1/networks` and `/metrics` show. */
  async function shown() {
    const [recorded] = await readNetworks(driven.database, [modelNetwork]);
    const status = { network: modelChainNetwork, recorded };
    const readStatus = async () => ({ networks: [status], signer: { isReady: true, reason: null } });
    const metrics = chainMetrics({
      readStatus,
      isUncompared: () => false,
      nodesOf: () => undefined,
      countUnestimated: () => undefined,
      now: Date.now,
    });
    const gaugeOf = async (name: string) => {
      const samples = await metrics.find((one) => one.name === `bursar_network_${name}`)?.read();
      return Array.isArray(samples) ? samples[0]?.value : undefined;
    };
    const { state, final_block, settled_block } = presentNetwork(status);
    return {
      ...{ state, isSettled: settled_block === final_block },
      isMeasuredAsSettled: (await gaugeOf("settled_block")) === (await gaugeOf("final_block")),
      haltedWallets: await gaugeOf("halted_wallets"),
    };
  }

  /** Everything of another tenant ends, and goes on doing so; the faulty wallet is halted, and nothing of it has changed. */
  async function expectOnlyHalted(bad: string): Promise<void> {
    const before = await driven.booked(faulty, modelCoin);
    const paid = await driven.pay(other, outside, modelCoin, 2n);
    await eventually(
      async () => driven.chain.pool().some(({ intent }) => intent?.transactionId === paid),
      (isSent) => isSent,
    );
    await deposit(other);
    // Both are compared with the chain at the next settled block.
    await driven.database.query(sql`
      UPDATE chain_wallets SET compared_number = -1 WHERE wallet_id = ANY (${[faulty.walletId, own.walletId]}::uuid[])`);
    await driven.settle();
    await driven.until(paid, "completed");
    const reason = await eventually(
      () => haltOf(faulty),
      (one) => one?.startsWith("One of its transactions cannot be settled: ") === true,
    );
    expect(reason).toContain(bad);
    expect((await driven.halts()).at(-1)).toEqual({
      action: "wallet.halt",
      code: "SETTLEMENT_FAILED",
      object: showId("wlt", faulty.walletId),
    });
    await deposit(other);
    await deposit(faulty, 40n, usdc);
    await driven.settle();
    await creditedTo(other, onChain(other));
    expect(await driven.booked(faulty, modelCoin)).toBe(before);
    expect(await driven.booked(faulty, usdc)).toBe(0n);
    expect([await haltOf(other), await haltOf(own)]).toEqual([null, null]);
    const followed = { state: "following", isSettled: true, isMeasuredAsSettled: true };
    expect(await shown()).toEqual({ ...followed, haltedWallets: 1 });
  }

  async function expectSettledAfterResume(bad: string): Promise<void> {
    const halts = (await driven.halts()).length;
    expect(await resume(faulty)).toBe("resumed");
    await driven.settle();
    await driven.until(bad, "completed");
    await driven.settle();
    for (const wallet of [faulty, own]) await creditedTo(wallet, onChain(wallet));
    expect(await driven.booked(faulty, usdc)).toBe(40n);
    expect(await haltOf(faulty)).toBeNull();
    expect(await driven.halts()).toHaveLength(halts);
    expect((await shown()).haltedWallets).toBe(0);
  }

  it("because a hold is too small halts its wallet alone, and is settled once the hold is repaired", async () => {
    const bad = await driven.pay(faulty, own, modelCoin, 5n);
    await driven.inPool(1);
    driven.mine();
    await driven.until(bad, "confirming");
    const setHeld = (held: string) =>
      driven.database.query(sql`
        UPDATE ledger_accounts SET held = ${held}::numeric WHERE account_id = ${faulty.walletId} AND asset = ${modelCoin}`);
    const [account] = await driven.database.query<{ held: string }>(sql`
      SELECT held FROM ledger_accounts WHERE account_id = ${faulty.walletId} AND asset = ${modelCoin}`);
    await setHeld("0");
    await expectOnlyHalted(bad);
    expect((await driven.read(bad)).state).toBe("confirming");
    await setHeld(account?.held ?? "0");
    await expectSettledAfterResume(bad);
  });

  it("because its fee is held in another asset halts its wallet alone, and is settled once that is repaired", async () => {
    const bad = await driven.pay(faulty, outside, modelCoin, 5n);
    await driven.inPool(1);
    driven.mine();
    await driven.until(bad, "confirming");
    const setFeeAsset = (asset: string) =>
      driven.database.query(sql`UPDATE open_transactions SET fee_asset = ${asset} WHERE id = ${bad}`);
    await setFeeAsset(usdc);
    await expectOnlyHalted(bad);
    await setFeeAsset(modelCoin);
    await expectSettledAfterResume(bad);
  });

  it("because a deposit names another transaction halts its wallet alone, and is settled once that is repaired", async () => {
    await deposit(faulty);
    driven.mine();
    const good = await lastDeposit(faulty);
    const bad = crypto.randomUUID();
    const setId = (from: string, to: string) =>
      driven.database.query(
        sql`UPDATE chain_deposits SET transaction_id = ${to} WHERE transaction_id = ${from}`,
      );
    await setId(good, bad);
    await expectOnlyHalted(bad);
    await setId(bad, good);
    await expectSettledAfterResume(good);
  });

  it("because the amount of a deposit was changed halts its wallet alone, and is settled once that is repaired", async () => {
    await deposit(faulty);
    driven.mine();
    const bad = await lastDeposit(faulty);
    const setAmount = (amount: bigint) =>
      driven.database.run(`UPDATE transactions SET amount = ${amount} WHERE id = '${bad}'`);
    await setAmount(2n * deposited);
    await expectOnlyHalted(bad);
    await setAmount(deposited);
    await expectSettledAfterResume(bad);
  });

  it("because the open transaction of a deposit is missing halts its wallet alone, and is settled once it is back", async () => {
    await deposit(faulty);
    driven.mine();
    const bad = await lastDeposit(faulty);
    await driven.database.run(`
      CREATE TABLE kept AS SELECT * FROM open_transactions WHERE id = '${bad}';
      DELETE FROM open_transactions WHERE id = '${bad}'`);
    await expectOnlyHalted(bad);
    await driven.database.run("INSERT INTO open_transactions SELECT * FROM kept");
    await expectSettledAfterResume(bad);
  });

  it("because its open transaction is missing when a block includes it halts its wallet alone, and ends once it is back", async () => {
    const bad = await driven.pay(faulty, own, modelCoin, 5n);
    await driven.inPool(1);
    await driven.until(bad, "broadcast");
    await driven.database.run(`
      CREATE TABLE kept_payment AS SELECT * FROM open_transactions WHERE id = '${bad}';
      DELETE FROM open_transactions WHERE id = '${bad}'`);
    driven.mine();
    const reason = `One of its payments cannot be processed: include of the transaction ${bad} is stale.`;
    await eventually(
      () => haltOf(faulty),
      (one) => one === reason,
    );
    await expectOnlyHalted(bad);
    await driven.database.run("INSERT INTO open_transactions SELECT * FROM kept_payment");
    await expectSettledAfterResume(bad);
    expect((await driven.read(bad)).states.slice(-2)).toEqual(["confirming", "completed"]);
  });

  it("because its wallet does not exist stops nobody else, though every step finds a final block, and is shown", async () => {
    const role = await createServiceRole(driven.database);
    await deposit(faulty);
    driven.mine();
    const orphan = await lastDeposit(faulty);
    const setTenant = (tenantId: string) =>
      role.run(`UPDATE chain_deposits SET tenant_id = '${tenantId}' WHERE transaction_id = '${orphan}'`);
    await setTenant(crypto.randomUUID());
    const { node } = driven.honest;
    const heads = () => {
      driven.mine();
      return node.heads();
    };
    driven.ports.node = { ...node, heads };
    try {
      await driven.until(await driven.pay(other, outside, modelCoin, 2n), "completed");
      const [recorded] = await readNetworks(driven.database, [modelNetwork]);
      expect(recorded).toMatchObject({ unownedRows: 1, haltedWallets: 0 });
      expect(await listUnowned(driven.database, modelNetwork)).toMatchObject([{ walletId: faulty.walletId }]);
      expect((await driven.read(orphan)).state).toBe("confirming");
      await setTenant(faulty.tenantId);
      await driven.until(orphan, "completed");
    } finally {
      driven.ports.node = node;
      await role.drop();
    }
    await driven.settle();
    for (const wallet of [other, faulty]) await creditedTo(wallet, onChain(wallet));
    expect([await haltOf(other), await haltOf(own), await haltOf(faulty)]).toEqual([null, null, null]);
  });

  it("because it was deleted is credited once, when its block is read again", async () => {
    await deposit(faulty);
    driven.mine();
    const orphan = await lastDeposit(faulty);
    await driven.database.query(sql`DELETE FROM chain_deposits WHERE transaction_id = ${orphan}`);
    driven.chain.reorganise(1, () => true);
    await deposit(other);
    await driven.settle();
    await driven.settle();
    for (const wallet of [other, faulty]) await creditedTo(wallet, onChain(wallet));
    expect((await driven.read(orphan)).state).toBe("confirming");
    expect(await haltOf(faulty)).toBeNull();
  });

  it("halts its wallet again if it is resumed without a repair, also when it was halted for another reason", async () => {
    await deposit(faulty);
    driven.mine();
    const good = await lastDeposit(faulty);
    const bad = crypto.randomUUID();
    await driven.database.query(
      sql`UPDATE chain_deposits SET transaction_id = ${bad} WHERE transaction_id = ${good}`,
    );
    await driven.database.query(sql`
      UPDATE chain_wallets SET halted_reason = 'another', halted_at = now() WHERE wallet_id = ${faulty.walletId}`);
    await expectOnlyHalted(bad);
    await resume(faulty);
    await expectOnlyHalted(bad);
  });
});
