import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Listed } from "../../src/app/requests/listed.js";
import { scannedRowsMax } from "../../src/app/requests/listed.js";
import { createChangeRequestStore } from "../../src/store/access/change-requests/change-requests.js";
import type { Database } from "../../src/store/core/database.js";
import { createOrderStore } from "../../src/store/markets/orders.js";
import { createDestinationStore } from "../../src/store/policy/destinations.js";
import { createTransactionStore } from "../../src/store/transactions/transactions.js";
import { createWalletStore } from "../../src/store/wallets/wallets.js";
import { createDeliveryStore } from "../../src/store/webhooks/webhook-deliveries.js";
import { fillLongLists, longLists } from "../harness/database/fill-long-lists.js";
import { type Recording, recordStatements } from "../harness/database/recorded-database.js";
import { rowsReadBy } from "../harness/database/rows-read.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";

const rows = Number(process.env["BURSAR_LIST_ROWS"] ?? 50_000);
/**
 * A page reads the rows of its lead, of two indexes if it is a wallet, twice if it has to say where it ends, and looks up each in up to
 * two tables.
 */
const readRowsMax = 7 * scannedRowsMax;

type List = (filter: object, limit: number, beforeId: string | undefined) => Promise<Listed<{ id: string }>>;
type Choices = Record<string, readonly unknown[]>;

describe(`a list of ${rows} rows`, () => {
  const recording: Recording = new Map();
  const ids = {
    tenantId: randomUUID(),
    walletId: randomUUID(),
    clientId: randomUUID(),
    endpointId: randomUUID(),
  };
  const rare = { walletId: randomUUID(), clientId: randomUUID(), endpointId: randomUUID() };
  let database: TestDatabase;
  let lists: Record<keyof typeof longLists, List>;
  beforeAll(async () => {
    database = await createTestDatabase();
    await fillLongLists(database, rows, ids, rare);
    lists = storesOf(recordStatements(database, recording), ids.tenantId);
  });
  afterAll(() => database.drop());

  /** Every combination of filters, of which most match nothing, or one row at the very end. */
  const choices: Record<keyof typeof longLists, Choices> = {
    transactions: {
      states: [
        ["rejected"],
        ["completed"],
        ["awaiting_approval"],
        ["accepted"],
        ["completed", "failed"],
        ["accepted", "rejected", "failed", "cancelled"],
      ],
      walletId: [ids.walletId, rare.walletId],
      clientId: [ids.clientId, rare.clientId],
      asset: ["USD", "ETH"],
      reference: ["same", "rare"],
    },
    orders: {
      state: ["rejected", "filled", "open", "pending"],
      market: ["ETH-USD", "USDC-USD"],
      side: ["buy", "sell"],
      clientId: [ids.clientId, rare.clientId],
      walletId: [ids.walletId, rare.walletId],
    },
    deliveries: {
      state: ["pending", "delivered", "exhausted"],
      endpointId: [ids.endpointId, rare.endpointId],
      event: ["transaction.updated", "wallet.updated"],
      sequence: [1],
    },
    wallets: { purpose: ["payout", "fees"], state: ["active", "creating"], frozen: [true, false] },
    destinations: { network: ["book", "other"], address: ["1", "2"], state: ["active", "waiting"] },
    changeRequests: { state: ["pending", "applied"] },
  };

  it.each(Object.keys(choices) as (keyof typeof longLists)[])(
    "reads a bounded number of rows of %s for a page, with every combination of filters",
    async (name) => {
      const worst = { filter: {}, read: 0 };
      for (const filter of combinationsOf(choices[name])) {
        recording.clear();
        await lists[name](filter, 51, undefined);
        const read = await rowsReadBy(database, recording);
        if (read > worst.read) Object.assign(worst, { filter, read });
      }
      expect(worst.read, JSON.stringify(worst.filter)).toBeLessThanOrEqual(readRowsMax);
    },
  );

  it.each(Object.entries(longLists))(
    "finds the one row of %s at the end, page by page",
    async (name, filter) => {
      const list = lists[name as keyof typeof longLists];
      const wanted = {
        ...filter,
        ...("clientId" in filter ? { clientId: rare.clientId } : {}),
        ...("endpointId" in filter ? { endpointId: ids.endpointId } : {}),
      };
      const found: string[] = [];
      let pages = 0;
      for (let before: string | undefined; ; ) {
        const { items, scannedTo } = await list(wanted, 51, before);
        found.push(...items.map(({ id }) => id));
        pages += 1;
        if (scannedTo === undefined) break;
        expect(before === undefined || scannedTo < before).toBe(true);
        before = scannedTo;
      }
      expect(found).toHaveLength(1);
      // Deliveries are in two tables.
      expect(pages).toBeLessThanOrEqual((2 * rows) / scannedRowsMax + 2);
    },
  );
});

function storesOf(database: Database, tenantId: string): Record<keyof typeof longLists, List> {
  const transactions = createTransactionStore(database, {
    list: [],
    find: (code: string) => ({ code, decimals: 2, network: "book" }),
  } as never);
  const orders = createOrderStore(database);
  const deliveries = createDeliveryStore(database);
  const wallets = createWalletStore(database, {} as never);
  const destinations = createDestinationStore(database);
  const changes = createChangeRequestStore(database, {} as never);
  return {
    transactions: (filter, ...page) => transactions.listTransactions(tenantId, filter, ...page),
    orders: (filter, ...page) => orders.listOrders(tenantId, filter, ...page),
    deliveries: (filter, ...page) => deliveries.listDeliveries(tenantId, filter, ...page),
    wallets: (filter, ...page) => wallets.listWallets(tenantId, filter, ...page),
    destinations: (filter, ...page) => destinations.listDestinations(tenantId, filter, new Date(), ...page),
    changeRequests: (filter, ...page) => changes.list(tenantId, filter, ...page),
  };
}

function combinationsOf(choices: Choices): object[] {
  return Object.entries(choices).reduce<object[]>(
    (all, [name, values]) =>
      all.flatMap((filter) => [filter, ...values.map((value) => ({ ...filter, [name]: value }))]),
    [{}],
  );
}
