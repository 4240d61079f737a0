import { randomUUID } from "node:crypto";
import { createAssetRegistry } from "@bursar/domain";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AcceptedOrder } from "../../../src/app/markets/order.js";
import type { AcceptedTransaction } from "../../../src/app/transactions/transaction.js";
import { assetList } from "../../../src/config/asset-list.js";
import { withKeys } from "../../../src/store/core/database.js";
import { createOrderStore } from "../../../src/store/markets/orders.js";
import { createTransactionStore } from "../../../src/store/transactions/transactions.js";
import { keys as integrityKeys } from "../../harness/access/segments.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const tenantId = randomUUID();
const common = (idempotencyKey: string) => ({
  ...{ tenantId, id: randomUUID(), clientId: tenantId, idempotencyKey, requestHash: "00", reference: "r" },
  ...{ createdAt: new Date(), policyVersion: 0, policyRule: null, needsJudgement: false },
});

function toTransaction(idempotencyKey: string): AcceptedTransaction {
  const [asset] = assetList.default;
  if (asset === undefined) throw new Error("there are no assets");
  return {
    ...common(idempotencyKey),
    ...{ asset, amount: 1n, metadata: null, expiresAt: null },
    parties: { kind: "transfer", source: { walletId: tenantId }, destination: { walletId: tenantId } },
  };
}

function toOrder(idempotencyKey: string): AcceptedOrder {
  return {
    ...common(idempotencyKey),
    ...{ market: "ETH-USD", walletId: tenantId, side: "buy", type: "limit", timeInForce: "gtc" },
    ...{ selfTrade: "cancel_newest", price: 1, size: 1, quoteSize: null },
  };
}

it.each([
  {
    what: "transactions",
    accept: (keys: readonly string[]) =>
      createTransactionStore(
        withKeys(database, integrityKeys),
        createAssetRegistry(assetList.default),
      ).acceptTransactions(keys.map(toTransaction)),
  },
  {
    what: "orders",
    accept: (keys: readonly string[]) =>
      createOrderStore(withKeys(database, integrityKeys)).acceptOrders(keys.map(toOrder)),
  },
])(
  "two batches of $what with the same keys in opposite order are both answered, and neither blocks the other",
  async ({ accept }) => {
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 200 }, (_, index) => `${round}-${index}`);
      const outcomes = await Promise.all([accept(keys), accept(keys.toReversed())]);
      expect(outcomes.flat().filter(({ kind }) => kind === "accepted")).toHaveLength(keys.length);
    }
  },
);
