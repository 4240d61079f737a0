import { randomUUID } from "node:crypto";
import {
  accountName,
  externalAccountId,
  feeAccountId,
  feeTenantId,
  marketClearingAccountId,
} from "@bursar/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { lockAccounts, withLedger, writeBalances, writeEntries } from "../../../src/store/ledger/ledger.js";
import { creditWallet } from "../../harness/database/credit-wallet.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

describe("the ledger", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const tenantId = randomUUID();
  const key = (accountId: string) => ({ tenantId, accountId, asset: "USD" });
  const kindsOf = (accountIds: string[]) =>
    database.query<{ kind: string; available: string }>(sql`
      SELECT kind, available::text FROM ledger_accounts WHERE account_id = ANY (${accountIds}::uuid[]) ORDER BY kind`);

  it("creates accounts that do not exist, each with its kind, and begins the work again", async () => {
    const wallet = randomUUID();
    const keys = [
      key(wallet),
      key(externalAccountId("eip155:1")),
      key(marketClearingAccountId),
      { tenantId: feeTenantId, accountId: feeAccountId, asset: "USD" },
    ];
    let runs = 0;
    const locked = await withLedger(database, async (tx) => {
      runs += 1;
      return await lockAccounts(tx, keys);
    });
    expect(runs).toBe(2);
    expect(locked).toEqual(new Map(keys.map((one) => [accountName(one), { available: 0n, held: 0n }])));
    expect((await kindsOf(keys.map(({ accountId }) => accountId))).map(({ kind }) => kind)).toEqual([
      "external",
      "fees",
      "market",
      "wallet",
    ]);
  });

  it("gives up on work that needs other new accounts each time, and writes nothing of it", async () => {
    let runs = 0;
    const entry = { ...key(randomUUID()), transactionId: randomUUID(), line: 1, amount: 1n };
    const work = withLedger(database, async (tx) => {
      runs += 1;
      writeEntries(tx, [{ ...entry, debit: entry.accountId, credit: randomUUID() }]);
      return await lockAccounts(tx, [key(randomUUID())]);
    });
    await expect(work).rejects.toThrow("do not exist yet");
    expect(runs).toBe(5);
    expect(
      await database.query(sql`SELECT FROM ledger_entries WHERE transaction_id = ${entry.transactionId}`),
    ).toEqual([]);
  });

  it("credits a wallet from the book's external account, also twice at once", async () => {
    const walletId = randomUUID();
    const funding = { tenantId: randomUUID(), walletId, asset: "USD", amount: 50n };
    await Promise.all(
      Array.from({ length: 4 }, () => creditWallet(database, { ...funding, id: randomUUID() })),
    );
    const rows = await database.query(sql`
      SELECT account_id, available::text FROM ledger_accounts WHERE tenant_id = ${funding.tenantId} ORDER BY available`);
    expect(rows).toEqual([
      { account_id: externalAccountId("book"), available: "-200" },
      { account_id: walletId, available: "200" },
    ]);
  });

  it("refuses to write a line of a transaction twice", async () => {
    const funding = {
      tenantId: randomUUID(),
      walletId: randomUUID(),
      asset: "USD",
      amount: 50n,
      id: randomUUID(),
    };
    await creditWallet(database, funding);
    await expect(creditWallet(database, funding)).rejects.toThrow("ledger_entries_pkey");
    expect(await kindsOf([funding.walletId])).toEqual([{ kind: "wallet", available: "50" }]);
  });

  it("refuses a wallet below zero in any decision", async () => {
    const wallet = key(randomUUID());
    const overdraw = withLedger(database, async (tx) => {
      await lockAccounts(tx, [wallet]);
      writeBalances(tx, new Map([[accountName(wallet), { available: -1n, held: 0n }]]));
    });
    await expect(overdraw).rejects.toThrow("ledger_accounts_check");
  });
});
