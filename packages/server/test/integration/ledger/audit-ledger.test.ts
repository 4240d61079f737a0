import { randomUUID } from "node:crypto";
import { accountsOfChanges, applyInPlace, externalAccountId, type LedgerChange } from "@bursar/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entriesOf } from "../../../src/app/ledger/ledger-unit.js";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { lockAccounts, withLedger, writeBalances, writeEntries } from "../../../src/store/ledger/ledger.js";
import { creditWallet } from "../../harness/database/credit-wallet.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

const [tenantId, payer, payee] = [randomUUID(), randomUUID(), randomUUID()];
const [completed, failed, processing] = [randomUUID(), randomUUID(), randomUUID()];
const outside = externalAccountId("eip155:1");
const fee = (amount: bigint) => ({ tenantId, line: 2, debit: payer, credit: outside, asset: "ETH", amount });
const hold = (asset: string, amount: bigint) => ({ tenantId, account: payer, asset, amount });
const accountRule =
  "every account is the sum of its entries, holds what is open, and every asset sums to zero";
const transactionRule =
  "every completed transaction has moved its amount once, and any other has at most paid fees";

describe("the audit of the ledger", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    for (const asset of ["USD", "ETH"])
      await creditWallet(database, { tenantId, walletId: payer, asset, amount: 100n, id: randomUUID() });
    await database.query(sql`INSERT INTO event_sequences VALUES (${tenantId}, 3)`);
    const amount = { tenantId, line: 1, debit: payer, credit: payee, asset: "USD", amount: 30n };
    await record(1, completed, "completed", { releases: [], postings: [amount, fee(1n)], holds: [] });
    await record(2, failed, "failed", { releases: [], postings: [fee(2n)], holds: [] });
    await record(3, processing, "processing", {
      releases: [],
      postings: [],
      holds: [hold("USD", 30n), hold("ETH", 3n)],
    });
    await database.query(sql`
      INSERT INTO open_transactions (tenant_id, id, state, version, fee_asset, fee_held)
      VALUES (${tenantId}, ${processing}, 'processing', 2, 'ETH', 3)`);
  });
  afterAll(() => database.drop());

  /** Writes a payout of 30 USD that has reached a state, with what that has done to the ledger. */
  async function record(sequence: number, id: string, state: string, change: LedgerChange): Promise<void> {
    await withLedger(database, async (tx) => {
      const balances = await lockAccounts(tx, accountsOfChanges([change]));
      expect(applyInPlace(balances, change)).toBeUndefined();
      writeBalances(tx, balances);
      writeEntries(tx, entriesOf(id, change));
      await tx.query(sql`
        INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount,
          source_account_id, destination_account_id, created_at)
        VALUES (${tenantId}, ${id}, ${id}, '\\x00', ${tenantId}, 'audit', 'USD', 30, ${payer}, ${payee}, now())`);
      await tx.query(sql`
        INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
        VALUES (${tenantId}, ${sequence}, 'transaction.updated', ${id}, 2, ${state}, 'accepted', now())`);
    });
  }

  const violated = async () =>
    (await auditLedger(database)).filter(({ violations }) => violations.length > 0).map(({ what }) => what);

  it("finds nothing if amounts were moved once, fees were paid, and what is open is held", async () => {
    expect(await violated()).toEqual([]);
  });

  const balanceOfPayer = (by: string, asset: string) =>
    `UPDATE ledger_accounts SET ${by} WHERE account_id = '${payer}' AND asset = '${asset}'`;
  const entry = (id: string, line: number, debit: string, credit: string, asset: string, amount: number) =>
    `INSERT INTO ledger_entries VALUES ('${tenantId}', '${id}', ${line}, '${debit}', '${credit}', '${asset}', ${amount})`;

  it.each([
    {
      fault: "a balance that no entry explains",
      cause: balanceOfPayer("available = available + 1", "USD"),
      repair: balanceOfPayer("available = available - 1", "USD"),
      rules: [accountRule],
    },
    {
      fault: "a hold of an amount that was released too early",
      cause: balanceOfPayer("available = available + 30, held = held - 30", "USD"),
      repair: balanceOfPayer("available = available - 30, held = held + 30", "USD"),
      rules: [accountRule],
    },
    {
      fault: "a hold for a fee that nothing open has",
      cause: "UPDATE open_transactions SET fee_held = 2",
      repair: "UPDATE open_transactions SET fee_held = 3",
      rules: [accountRule],
    },
    {
      fault: "a failed transaction that moved its amount",
      cause: entry(failed, 1, payer, payee, "USD", 30),
      repair: `DELETE FROM ledger_entries WHERE transaction_id = '${failed}' AND line = 1`,
      rules: [accountRule, transactionRule],
    },
    {
      fault: "a completed transaction that moved another amount",
      cause: `UPDATE ledger_entries SET amount = 29 WHERE transaction_id = '${completed}' AND line = 1`,
      repair: `UPDATE ledger_entries SET amount = 30 WHERE transaction_id = '${completed}' AND line = 1`,
      rules: [accountRule, transactionRule],
    },
    {
      fault: "a fee that went to a wallet",
      cause: `UPDATE ledger_entries SET credit_account_id = '${payee}' WHERE transaction_id = '${failed}';
        INSERT INTO ledger_accounts VALUES ('${tenantId}', '${payee}', 'ETH', 0, 0, 'wallet')`,
      repair: `UPDATE ledger_entries SET credit_account_id = '${outside}' WHERE transaction_id = '${failed}'`,
      rules: [accountRule, transactionRule],
    },
    {
      fault: "a fee of a transaction that is open",
      cause: entry(processing, 2, payer, outside, "ETH", 1),
      repair: `DELETE FROM ledger_entries WHERE transaction_id = '${processing}'`,
      rules: [accountRule, transactionRule],
    },
  ])("finds $fault", async ({ cause, repair, rules }) => {
    await database.run(cause);
    expect(await violated()).toEqual(rules);
    await database.run(repair);
    expect(await violated()).toEqual([]);
  });
});
