import { describe, expect, it } from "vitest";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import type { Signer } from "../../../src/app/chain/signer.js";
import { stateNonce } from "../../../src/store/chain/resume-chain.js";
import { sql } from "../../../src/store/core/sql.js";
import { startChainService } from "../../harness/chain/chain-service.js";
import { falseToken, modelCoin } from "../../harness/chain/model-chain.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { explain, findPlanFaults } from "../../harness/database/plans.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import type { TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";

const outside = `0x${"e".repeat(40)}`;

/** Wallets, payments, bytes and deposits of others, most of which have ended. */
const filling = `
  INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at)
    SELECT gen_random_uuid(), gen_random_uuid(), 'filler', 'treasury', 'eip155:31337', 'active', 2, now(), now() FROM generate_series(1, 4000);
  INSERT INTO chain_wallets (tenant_id, wallet_id, network, address, shown, compared_number, confirmed_epoch)
    SELECT tenant_id, id, network, '0x' || replace(id::text, '-', ''), '', 1000000, 1 FROM wallets WHERE name = 'filler';
  INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage, nonce, attempt, wanted)
    SELECT tenant_id, gen_random_uuid(), network, wallet_id, 'over', nonce, 1, 1 FROM chain_wallets, generate_series(0, 5) AS nonce;
  INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage)
    SELECT tenant_id, gen_random_uuid(), network, wallet_id, 'ready' FROM chain_wallets LIMIT 1;
  INSERT INTO chain_attempts (network, hash, tenant_id, transaction_id, number, purpose, bytes, gas_limit, max_fee, max_tip, stored_at)
    SELECT network, '0x' || replace(transaction_id::text, '-', ''), tenant_id, transaction_id, 1, 'payment', '\\x02', 1, 1, 1, now() FROM chain_payments
    WHERE nonce = 0;
  INSERT INTO chain_deposits (network, hash, ordinal, tenant_id, wallet_id, asset, amount, block_number, block_hash, state)
    SELECT network, '0x' || replace(wallet_id::text, '-', ''), 1, tenant_id, wallet_id, 'ETH.SIM', 1, 1, '0x1', 'credited' FROM chain_wallets;
  INSERT INTO chain_holdings (tenant_id, wallet_id, asset, on_chain, block_number)
    SELECT tenant_id, wallet_id, 'ETH.SIM', 1, 1 FROM chain_wallets;
  ANALYZE`;

describe("every statement of the driver of a chain", () => {
  it("is served by an index and reads few more rows than it needs, with many wallets and payments that have ended", async () => {
    const recording: Recording = new Map();
    const service = await startChainService({ record: (database) => recordStatements(database, recording) });
    try {
      await service.database.run(filling);
      const tenantId = await service.createTenant();
      const [wallet, own] = [await service.createWallet(tenantId), await service.createWallet(tenantId)];
      // It has signed a payment that is lost: a statement that looks for it by no index reads all others.
      const signer = createModelSigner(async () => undefined);
      const lost = { nonce: 0, transactionId: "01900000-0000-7000-8000-000000000001" };
      const signedFrom: Signer["signedFrom"] = async (wallets) => {
        const answers = await signer.signedFrom(wallets);
        return answers.map((answer, index) => (wallets[index]?.walletId === own.walletId ? [lost] : answer));
      };
      service.startDriver({ signer: { ...signer, signedFrom } });
      await eventually(
        () => service.store.readPosition("eip155:31337"),
        (position) => position !== undefined,
      );
      const mine = (blocks: number) => {
        for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
      };
      const pay = (amount: bigint, asset: string) =>
        service.chain.pay([{ asset, from: outside, to: wallet.address, amount }]);
      pay(1_000_000_000n, modelCoin);
      pay(40n, "USDC.SIM");
      pay(70n, "USDC.SIM");
      mine(5);
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked === 1_000_000_000n,
      );
      const ids = [
        await service.pay(wallet, outside, modelCoin, 5n),
        await service.pay(wallet, own, modelCoin, 5n),
        await service.pay(wallet, `0x${"e".repeat(36)}dead`, modelCoin, 5n),
      ];
      const cancelled = await service.pay(wallet, outside, modelCoin, 7n);
      await eventually(
        async () => service.chain.pool().length,
        (count) => count === 3,
      );
      // It has no transaction, so that it gets no nonce.
      await service.database.query(sql`
        INSERT INTO chain_payments (tenant_id, transaction_id, network, wallet_id, stage)
        VALUES (${tenantId}, ${lost.transactionId}, 'eip155:31337', ${own.walletId}, 'ready')
      `);
      // As after a restore: the signer is asked for what it has signed.
      const isConfirmed = async () => {
        const [row] = await service.database.query<{ is: boolean }>(
          sql`SELECT confirmed_epoch > 0 AS is FROM chain_wallets WHERE wallet_id = ${wallet.walletId}`,
        );
        return row?.is;
      };
      await service.database.query(sql`
        UPDATE chain_wallets SET confirmed_epoch = 0 WHERE wallet_id IN (${wallet.walletId}, ${own.walletId})
          OR wallet_id IN (SELECT id FROM wallets WHERE name = 'filler' ORDER BY id LIMIT 150)
      `);
      await eventually(isConfirmed, Boolean);
      await service.requestCancel(wallet, cancelled);
      await eventually(
        async () => service.chain.pool(),
        (pool) => pool.some(({ intent }) => intent?.purpose === "cancellation"),
      );
      mine(2);
      await eventually(
        () => service.read(ids[0] ?? ""),
        ({ state }) => state === "confirming",
      );
      pay(9n, falseToken);
      mine(1);
      await eventually(
        () => service.deposits(wallet),
        (deposits) => deposits.length === 3,
      );
      service.chain.reorganise(2, ({ intent }) => intent !== undefined);
      mine(30);
      await eventually(
        () => service.read(cancelled),
        ({ state }) => state === "cancelled",
      );
      service.chain.pay([], [{ asset: modelCoin, from: outside, to: wallet.address, amount: 3n }]);
      service.chain.useNonce(own.address);
      mine(30);
      await eventually(
        () => service.halts(),
        (halts) => halts.length === 1,
      );
      // What no block shows is found by the comparison, after the halt or before it.
      await eventually(
        async () => [...recording.keys()],
        (recorded) => recorded.some((text) => text.includes("sum(t.amount) AS amount")),
      );
      const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", own.walletId, new Date());
      await stateNonce(service.keyed, own, { nonce: 1, paysWaiting: true }, entry);
      mine(5);
      await eventually(
        () =>
          service.database.query(sql`
            SELECT FROM chain_wallets WHERE wallet_id = ${own.walletId} AND final_nonce = 1 AND halted_reason IS NULL
          `),
        ({ length }) => length === 1,
      );
      expect(service.errors).toEqual([]);
      const texts = [...recording.keys()].join("\n");
      for (const part of [
        "INSERT INTO chain_attempts",
        "DELETE FROM chain_blocks",
        "SET stage = 'included'",
        "UPDATE chain_wallets",
        "sum(t.amount) AS amount",
        "AS given (tenant_id, wallet_id, nonce, transaction_id, index)",
        // What the signer has bound to nonces, and what is looked for when a wallet is adopted.
        "p.stage, p.key_id, p.mac",
        '"isOccupied"',
        "p.stage = 'assigned' AND p.attempt = 0",
      ])
        expect(texts).toContain(part);
      // Those with payments that wait are listed first if there are more than a page.
      const isOfWaiting = (text: string) => text.includes('"confirmedEpoch"') && text.includes("unnest");
      expect([...recording.keys()].filter(isOfWaiting)).toHaveLength(1);
      // The versions of rows that were unconfirmed are in the index until nobody can see them.
      const faults = async () => {
        await service.database.run("VACUUM chain_wallets");
        return await findFaults(service.database, recording);
      };
      expect(await eventually(faults, ({ length }) => length === 0)).toEqual([]);
      await service.database.run("DROP INDEX chain_payments_open");
      expect((await findFaults(service.database, recording)).join("\n")).toContain("chain_payments");
    } finally {
      await service.stop();
    }
  });
});

async function findFaults(database: TestDatabase, recording: Recording): Promise<string[]> {
  const faults = new Set<string>();
  await database.session(async (session) => {
    for (const statement of [...recording.values()].flat()) {
      if (!statement.text.includes("chain_") && !statement.text.includes("networks")) continue;
      const plan = await explain(session, statement);
      for (const fault of plan === undefined ? [] : findPlanFaults(plan))
        faults.add(`${fault}: ${statement.text.replace(/\s+/g, " ").trim()}`);
    }
  });
  return [...faults];
}
