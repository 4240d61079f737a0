import {
  accountName,
  accountsOfChanges,
  applyInPlace,
  type Balance,
  createAssetRegistry,
  createBook,
  createMarketRegistry,
  limitHold,
  type MarketRegistry,
  marketClearingAccountId,
  orderStates,
} from "@bursar/domain";
import { type Arbitrary, array, assert, constantFrom, integer, oneof, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import type { MarketCommand, NewCommand, OpenOrderRow, PlacedOrder } from "../app/markets/market-store.js";
import { assetList } from "../config/asset-list.js";
import { sandboxMarkets } from "../config/market-list.js";
import { applyCommands, touchedOrders } from "./apply-commands.js";
import { settleCommands } from "./settle-commands.js";

const markets = createMarketRegistry(
  sandboxMarkets,
  createAssetRegistry(assetList.default),
) as MarketRegistry;
const market = markets.get("ETH-USD");

const funds = 10n ** 30n;

/** A market in memory: a book, and the rows that a database would have. */
function createWorld() {
  const book = createBook();
  const rows = new Map<string, OpenOrderRow>();
  const balances = new Map<string, Balance>();
  const numbers = new Map<string, number>();
  let sequence = 0;
  let count = 0;

  function run(commands: readonly NewCommand[]) {
    for (const command of commands) {
      if (command.kind !== "place") continue;
      const { side, price, size, quoteSize } = command.order;
      const held = quoteSize ?? limitHold(side, price ?? 1, size ?? 0, market.steps);
      const { tenantId, orderId: id } = command;
      const progress = { size, filled: 0, quoteFilled: 0n, fee: 0n };
      rows.set(id, {
        tenantId,
        id,
        walletId: `${tenantId}-wallet`,
        walletIsFrozen: false,
        isStopped: false,
        side,
        price,
        state: "pending",
        version: 1,
        held,
        ...progress,
      });
      change(`${tenantId} ${tenantId}-wallet ${side === "buy" ? "USD" : "ETH"}`, { available: -held, held });
    }
    const results = applyCommands(book, market, numbered(commands));
    const touched = touchedOrders(results).map(({ id }) => rows.get(id) as OpenOrderRow);
    const settled = settleCommands(market, results, touched, () => `trade-${count++}`);
    for (const { previousState: _, failure: __, ...row } of settled.changes) {
      if (orderStates[row.state].final) rows.delete(row.id);
      else rows.set(row.id, row);
      if (orderStates[row.state].final) expect(row.held).toBe(0n);
    }
    for (const key of accountsOfChanges([settled.ledger]))
      change(accountName(key), { available: 0n, held: 0n });
    expect(applyInPlace(balances, settled.ledger)).toBeUndefined();
    return settled;
  }

  function numbered(commands: readonly NewCommand[]): MarketCommand[] {
    return commands.map((command) => {
      sequence += 1;
      if (command.kind === "place") numbers.set(command.orderId, sequence);
      return { ...command, sequence, orderNumber: numbers.get(command.orderId) ?? 0 };
    });
  }

  /** A wallet that appears has funds, which came from outside. */
  function change(name: string, by: Balance) {
    if (name.includes("-wallet") && !balances.has(name)) {
      balances.set(name, { available: funds, held: 0n });
      change(name.replace("-wallet", "-outside"), { available: -funds, held: 0n });
    }
    const { available, held } = balances.get(name) ?? { available: 0n, held: 0n };
    balances.set(name, { available: available + by.available, held: held + by.held });
  }

  return { book, rows, balances, run };
}

const place = (tenantId: string, orderId: string, order: Partial<PlacedOrder>): NewCommand => ({
  kind: "place",
  priceLimit: null,
  content: "",
  held: 0n,
  tenantId,
  orderId,
  actorId: null,
  order: {
    side: "buy",
    type: "limit",
    timeInForce: "gtc",
    selfTrade: "cancel_newest",
    price: null,
    size: null,
    quoteSize: null,
    ...order,
  },
});

describe("settling commands", () => {
  it("frees what a better price leaves, and holds the order's own price for what rests", () => {
    const { run, rows, balances } = createWorld();
    run([place("s", "ask", { side: "sell", price: 100, size: 10 })]);
    const { changes, trades } = run([place("b", "bid", { price: 105, size: 30 })]);
    expect(trades).toMatchObject([{ price: 100, size: 10, takerSide: "buy" }]);
    expect(changes.map(({ id, state, version }) => [id, state, version])).toEqual([
      ["ask", "filled", 3],
      ["bid", "partially_filled", 2],
    ]);
    // A lot at a price of one tick costs a cent: 20 lots rest at 105, and 10 were paid at 100.
    expect(rows.get("bid")).toMatchObject({ held: 2100n, filled: 10, quoteFilled: 1000n });
    expect(balances.get("b b-wallet USD")).toEqual({ available: funds - 3100n, held: 2100n });
  });

  it("whatever happens, every order in the book holds what it can still cost, and no money appears or goes", () =>
    assert(
      property(
        array(deed, { minLength: 20, maxLength: 80 }),
        integer({ min: 1, max: 9 }),
        (deeds, batchSize) => {
          const { book, rows, balances, run } = createWorld();
          for (let start = 0; start < deeds.length; start += batchSize) {
            run(deeds.slice(start, start + batchSize).map((make, index) => make(start + index)));
            for (const { id, side, price, remaining } of book.openOrders())
              expect(rows.get(id)?.held).toBe(limitHold(side, price, remaining, market.steps));
            expect(rows.size).toBe(book.orderCount());
            for (const asset of ["USD", "ETH"]) {
              expect(sumOf(balances, asset)).toBe(0n);
              expect(sumOf(balances, asset, marketClearingAccountId)).toBe(0n);
            }
          }
        },
      ),
    ));
});

function sumOf(balances: ReadonlyMap<string, Balance>, asset: string, accountId?: string): bigint {
  let sum = 0n;
  for (const [name, { available, held }] of balances) {
    const [, account, ofAccount] = name.split(" ");
    if (ofAccount === asset && (accountId === undefined || account === accountId)) sum += available + held;
  }
  return sum;
}

const whose = constantFrom("a", "b", "c");
const which = integer({ min: 0, max: 60 });
const size = integer({ min: 1, max: 50 });

/** Somebody's next command, once it is known which one it is. */
const deed: Arbitrary<(index: number) => NewCommand> = oneof(
  record({
    tenantId: whose,
    side: constantFrom("buy", "sell"),
    price: integer({ min: 95, max: 105 }),
    size,
    timeInForce: constantFrom("gtc", "gtc", "ioc", "fok", "post_only"),
    selfTrade: constantFrom("cancel_newest", "cancel_oldest", "cancel_both"),
  }).map(
    ({ tenantId, ...order }) =>
      (index: number) =>
        place(tenantId, `order-${index}`, order),
  ),
  record({ tenantId: whose, cents: integer({ min: 1, max: 5000 }) }).map(
    ({ tenantId, cents }) =>
      (index: number) =>
        place(tenantId, `order-${index}`, { type: "market", timeInForce: null, quoteSize: BigInt(cents) }),
  ),
  record({ tenantId: whose, which }).map(
    ({ tenantId, which: back }) =>
      (index: number): NewCommand => ({
        kind: "cancel",
        tenantId,
        orderId: `order-${index - back}`,
        actorId: null,
      }),
  ),
  record({ tenantId: whose, which, size }).map(
    ({ tenantId, which: back, size: amended }) =>
      (index: number): NewCommand => ({
        kind: "amend",
        tenantId,
        orderId: `order-${index - back}`,
        actorId: null,
        size: amended,
      }),
  ),
);
