import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AuditDraft } from "../../../../src/app/audit/audit-entry.js";
import { resumeWallet } from "../../../../src/store/chain/resume-chain.js";
import { Statement, sql } from "../../../../src/store/core/sql.js";
import { createEventLog } from "../../../../src/store/events/events.js";
import { createWalletStore } from "../../../../src/store/wallets/wallets.js";
import {
  type ChainService,
  type ChainWallet,
  startChainService,
} from "../../../harness/chain/chain-service.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { createServiceRole, type ServiceRole } from "../../../harness/database/service-role.js";
import { eventually } from "../../../harness/eventually.js";

const network = "eip155:31337";
const outside = `0x${"e".repeat(40)}`;
const supplier = `0x${"5".repeat(40)}`;
const thief = `0x${"7".repeat(40)}`;

/** The writer has the rights of the service's role, and no master key. */
describe("a payment on a chain that a writer to the database changes before it is signed", () => {
  let service: ChainService;
  let role: ServiceRole;
  let tenantId: string;
  let wallet: ChainWallet;
  let own: ChainWallet;
  beforeAll(async () => {
    service = await startChainService();
    role = await createServiceRole(service.database);
    service.startDriver();
    await eventually(
      () => service.store.readPosition(network),
      (position) => position !== undefined,
    );
  });
  afterAll(async () => {
    await role?.drop();
    await service.stop();
  });
  beforeEach(async () => {
    tenantId = await service.createTenant();
    wallet = await service.createWallet(tenantId);
    own = await service.createWallet(tenantId);
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 1_000_000_000n }]);
    mine(5);
    await eventually(
      () => service.booked(wallet, modelCoin),
      (booked) => booked === 1_000_000_000n,
    );
    // The brake: nothing of a halted network is signed, and its driver does not look at it.
    await halt(true);
  });
  afterEach(() => halt(false));

  const mine = (blocks: number) => {
    for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
  };
  const halt = (halted: boolean) =>
    role.run(`UPDATE chain_wallets SET halted_reason = ${halted ? "'brake'" : "NULL"},
      halted_at = ${halted ? "now()" : "NULL"} WHERE wallet_id = '${wallet.walletId}'`);
  const haltCode = async () => {
    const [row] = await service.database.query<{ code: string }>(sql`
      SELECT code FROM audit_entries WHERE tenant_id = ${tenantId} AND action = 'wallet.halt' ORDER BY number DESC LIMIT 1`);
    return row?.code;
  };
  const isRefused = async (id: string) => {
    await halt(false);
    const seen = await eventually(
      async () => ({ code: await haltCode(), state: (await service.read(id)).state }),
      ({ code, state }) => code !== undefined || state !== "processing",
    );
    expect(seen).toEqual({ code: "PAYMENT_TAMPERED", state: "processing" });
    mine(3);
    expect(balanceOf(service.chain.head().balances, thief, modelCoin)).toBe(0n);
  };
  const auditOf = (action: string): AuditDraft => ({
    ...{ tenantId, occurredAt: new Date(), actor: "operator", clientId: null, tokenId: null },
    ...{ action, object: wallet.walletId, outcome: "succeeded", code: null },
    ...{ repeated: 1, requestId: null, address: null },
  });
  const resume = () => resumeWallet(service.keyed, wallet, auditOf("wallet.resume"));
  const completes = async (id: string) =>
    await eventually(
      async () => {
        mine(1);
        return await service.read(id);
      },
      ({ state }) => state === "completed",
    );
  const value = async (column: string, table: string, where: string) => {
    const [row] = await service.database.query<{ value: string | null }>(
      new Statement(`SELECT ${column}::text AS value FROM ${table} WHERE ${where}`, []),
    );
    return row?.value == null ? "NULL" : `'${row.value}'`;
  };

  it.each([
    ["its address", "destination_address", `'${thief}'`],
    ["its amount", "amount", "amount * 1000"],
    ["its client", "client_id", "gen_random_uuid()"],
  ])(
    "is not signed with another value of %s, and is paid once the row is restored",
    async (_, column, to) => {
      const before = balanceOf(service.chain.head().balances, supplier, modelCoin);
      const id = await service.pay(wallet, supplier, modelCoin, 1000n);
      const was = await value(column, "transactions", `id = '${id}'`);
      await role.run(`UPDATE transactions SET ${column} = ${to} WHERE id = '${id}'`);
      await isRefused(id);
      await role.run(`UPDATE transactions SET ${column} = ${was} WHERE id = '${id}'`);
      await resume();
      await completes(id);
      expect(balanceOf(service.chain.head().balances, supplier, modelCoin)).toBe(before + 1000n);
    },
  );

  it.each(["address", "shown"])(
    "is not signed if the %s of the own wallet that it pays was changed",
    async (column) => {
      const id = await service.pay(wallet, own, modelCoin, 1000n);
      await role.run(`UPDATE chain_wallets SET ${column} = '${thief}' WHERE wallet_id = '${own.walletId}'`);
      await isRefused(id);
      await role.run(
        `UPDATE chain_wallets SET ${column} = '${own.address}' WHERE wallet_id = '${own.walletId}'`,
      );
      await resume();
      await completes(id);
      expect(balanceOf(service.chain.head().balances, own.address, modelCoin)).toBe(1000n);
    },
  );

  it("is not signed while its wallet is frozen, also if the row of the wallet says otherwise", async () => {
    const store = createWalletStore(service.keyed, createEventLog({ publish: () => undefined }));
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await store.setFrozen(tenantId, wallet.walletId, true, auditOf("wallet.freeze"));
    await role.run(`UPDATE wallets SET frozen = false WHERE id = '${wallet.walletId}'`);
    await halt(false);
    const ended = await eventually(
      () => service.read(id),
      ({ state }) => state !== "processing",
    );
    expect(ended).toMatchObject({ state: "failed", failure: "WALLET_FROZEN" });
  });

  it("is not signed if somebody has recorded that its wallet is not frozen", async () => {
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await role.run(`INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      VALUES ('${tenantId}', '${wallet.walletId}', 1, false, now())`);
    await isRefused(id);
    await service.database.run(`DELETE FROM stop_records WHERE subject_id = '${wallet.walletId}'`);
    await resume();
    await completes(id);
  });

  it("is not signed after it was cancelled, if it is made open again with the MACs of before", async () => {
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await role.run(`UPDATE open_transactions SET cancel_requested = true WHERE id = '${id}'`);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "cancelled",
    );
    await role.run(`
      INSERT INTO open_transactions (tenant_id, id, state, version, needs_judgement)
      VALUES ('${tenantId}', '${id}', 'processing', 3, true);
      UPDATE chain_payments SET stage = 'ready' WHERE transaction_id = '${id}'`);
    await halt(false);
    await eventually(haltCode, (code) => code === "PAYMENT_TAMPERED");
    await service.database.run(`
      DELETE FROM open_transactions WHERE id = '${id}'; UPDATE chain_payments SET stage = 'over' WHERE transaction_id = '${id}'`);
  });

  it("is not paid by another wallet than the one that it names", async () => {
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await role.run(`UPDATE chain_payments SET wallet_id = '${own.walletId}' WHERE transaction_id = '${id}'`);
    await isRefused(id);
    await role.run(
      `UPDATE chain_payments SET wallet_id = '${wallet.walletId}' WHERE transaction_id = '${id}'`,
    );
    await halt(true);
  });

  it("is not signed if the engine has not given it to the driver", async () => {
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await role.run(`
      DELETE FROM chain_payments WHERE transaction_id = '${id}';
      INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage)
      VALUES ('${tenantId}', '${id}', '${network}', '${wallet.walletId}', 'ready')`);
    await isRefused(id);
    await role.run(`DELETE FROM chain_payments WHERE transaction_id = '${id}'`);
  });

  it("is not replaced with fees that somebody else has written, and is completed once that is undone", async () => {
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await halt(false);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "broadcast",
    );
    await role.run(`
      UPDATE chain_payments SET wanted = attempt + 1, purpose = 'replacement', max_fee = max_fee * 3, max_tip = max_fee * 3,
        gas_limit = gas_limit * 2 WHERE transaction_id = '${id}'`);
    const attempts = () => value("count(*)", "chain_attempts", `transaction_id = '${id}'`);
    const seen = await eventually(
      async () => ({ code: await haltCode(), attempts: await attempts() }),
      (found) => found.code !== undefined || found.attempts !== "'1'",
    );
    expect(seen).toEqual({ code: "PAYMENT_TAMPERED", attempts: "'1'" });
    await role.run(`UPDATE chain_payments SET wanted = attempt WHERE transaction_id = '${id}'`);
    await resume();
    await completes(id);
  });

  it("does not hold up the payments of other wallets", async () => {
    const other = await service.createWallet(tenantId);
    service.chain.pay([{ asset: modelCoin, from: outside, to: other.address, amount: 1_000_000_000n }]);
    mine(5);
    await eventually(
      () => service.booked(other, modelCoin),
      (booked) => booked === 1_000_000_000n,
    );
    const id = await service.pay(wallet, supplier, modelCoin, 1000n);
    await role.run(`UPDATE transactions SET destination_address = '${thief}' WHERE id = '${id}'`);
    const sound = await service.pay(other, supplier, modelCoin, 1000n);
    await isRefused(id);
    await completes(sound);
  });

  it("shows no address of a wallet that was changed, and does not take it for the wallet that has it", async () => {
    const store = createWalletStore(service.keyed, createEventLog({ publish: () => undefined }));
    const shown = async () => (await store.readWallet(tenantId, own.walletId))?.address;
    expect(await shown()).toBe(own.address);
    await role.run(
      `UPDATE chain_wallets SET address = '${thief}', shown = '${thief}' WHERE wallet_id = '${own.walletId}'`,
    );
    expect(await shown()).toBeNull();
    expect(await store.findWalletByAddress(tenantId, network, thief)).toBeUndefined();
    await role.run(
      `UPDATE chain_wallets SET address = '${own.address}', shown = '${own.address}' WHERE wallet_id = '${own.walletId}'`,
    );
    expect(await store.findWalletByAddress(tenantId, network, own.address)).toMatchObject({
      id: own.walletId,
    });
  });

  it("credits no deposit to a wallet that was given the address of another one, and credits it once it is restored", async () => {
    const victim = await service.createWallet(await service.createTenant());
    await role.run(`
      UPDATE chain_wallets SET address = 'none' WHERE wallet_id = '${victim.walletId}';
      UPDATE chain_wallets SET address = '${victim.address}' WHERE wallet_id = '${own.walletId}'`);
    const errors = service.errors.length;
    service.chain.pay([{ asset: modelCoin, from: outside, to: victim.address, amount: 77_000_000n }]);
    mine(5);
    await eventually(
      async () => service.errors.length,
      (count) => count > errors,
    );
    expect(`${service.errors.at(-1)}`).toContain("was changed in the database");
    await role.run(`
      UPDATE chain_wallets SET address = '${own.address}' WHERE wallet_id = '${own.walletId}';
      UPDATE chain_wallets SET address = '${victim.address}' WHERE wallet_id = '${victim.walletId}'`);
    await eventually(
      () => service.booked(victim, modelCoin),
      (booked) => booked === 77_000_000n,
    );
    expect(await service.booked(own, modelCoin)).toBe(0n);
  });
});
