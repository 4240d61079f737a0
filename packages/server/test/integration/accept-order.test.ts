import { randomUUID } from "node:crypto";
import { createAssetRegistry } from "@bursar/domain";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AcceptedTransaction } from "../../src/app/transactions/transaction.js";
import { assetList } from "../../src/config/asset-list.js";
import { createTransactionStore } from "../../src/store/transactions.js";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it("two batches with the same keys in opposite order are both answered, and neither waits for the other for ever", async () => {
  const [asset] = assetList.default;
  if (asset === undefined) throw new Error("there are no assets");
  const store = createTransactionStore(database, createAssetRegistry(assetList.default));
  const tenantId = randomUUID();
  const batchOf = (keys: readonly string[]): AcceptedTransaction[] =>
    keys.map((idempotencyKey) => ({
      ...{
        tenantId,
        id: randomUUID(),
        clientId: tenantId,
        idempotencyKey,
        requestHash: "00",
        reference: "r",
      },
      ...{ asset, amount: 1n, sourceWalletId: tenantId, destinationWalletId: tenantId },
      ...{ metadata: null, expiresAt: null, createdAt: new Date(), policyVersion: 0, needsJudgement: false },
    }));
  for (let round = 0; round < 20; round++) {
    const keys = Array.from({ length: 200 }, (_, index) => `${round}-${index}`);
    const outcomes = await Promise.all([
      store.acceptTransactions(batchOf(keys)),
      store.acceptTransactions(batchOf(keys.toReversed())),
    ]);
    expect(outcomes.flat().filter(({ kind }) => kind === "accepted")).toHaveLength(keys.length);
  }
});
