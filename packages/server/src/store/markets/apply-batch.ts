import { type AccountKey, type Balance, type OrderState, orderStates, type Side } from "@bursar/domain";
import type {
  AppliedBatch,
  BatchResult,
  MarketDelta,
  MarketLease,
  MarketStore,
  OpenOrderRow,
  OrderChange,
} from "../../app/markets/market-store.js";
import { writeDetails } from "../../app/markets/order-details.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { lockAllAccounts, withAccounts, writeAccounts } from "../ledger/accounts.js";
import { guarded } from "./market-leases.js";
import { writeTrades } from "./trades.js";

/** The second of an owner's two steps: what the book has made of commands is written, in one transaction. */
export function createBatchApplication(database: Database, log: EventLog): Pick<MarketStore, "apply"> {
  return {
    apply: (lease, batch) =>
      withAccounts(database, async (tx) => {
        const hasDelta = batch.levelChanges.length > 0;
        // Both statements travel together; of one who has lost the market the second reads in vain.
        const [position, orders] = await Promise.all([
          guarded(
            tx,
            lease,
            sql`applied_sequence = ${batch.sequence}::bigint${
              hasDelta ? sql`, levels_changed_at = ${batch.occurredAt}` : sql``
            }`,
          ),
          readOrders(tx, batch.touched),
        ]);
        const result = batch.settle(orders);
        writeOrders(tx, result.changes);
        writeTrades(tx, lease.market, position.tradeSequence, result, batch.occurredAt);
        const delta = hasDelta ? toDelta(lease, batch, position.levelSequence) : undefined;
        writePosition(tx, lease, position.tradeSequence + result.trades.length, delta);
        await moveMoney(tx, result.balances);
        await log.append(tx, result.changes.map(toEvent(batch.occurredAt)));
        return delta;
      }),
  };
}

// Served by primary keys. Locked in the order in which a freeze locks a wallet's orders.
async function readOrders(tx: Queryable, touched: AppliedBatch["touched"]): Promise<OpenOrderRow[]> {
  if (touched.length === 0) return [];
  const rows = await tx.query<OrderRow>(sql`
    SELECT p.tenant_id AS "tenantId", p.id, p.wallet_id AS "walletId", p.side, p.price, p.state, p.version, p.size, p.filled,
      p.quote_filled AS "quoteFilled", p.fee, p.held, w.frozen AS "walletIsFrozen"
    FROM unnest(${touched.map((t) => t.tenantId)}::uuid[], ${touched.map((t) => t.id)}::uuid[]) AS wanted (tenant_id, id)
    JOIN open_orders p ON p.tenant_id = wanted.tenant_id AND p.id = wanted.id
    JOIN wallets w ON w.tenant_id = p.tenant_id AND w.id = p.wallet_id
    ORDER BY p.tenant_id, p.id FOR UPDATE OF p
  `);
  return rows.map((row) => ({
    ...row,
    price: row.price === null ? null : Number(row.price),
    size: row.size === null ? null : Number(row.size),
    filled: Number(row.filled),
    quoteFilled: BigInt(row.quoteFilled),
    fee: BigInt(row.fee),
    held: BigInt(row.held),
  }));
}

interface OrderRow {
  tenantId: string;
  id: string;
  walletId: string;
  walletIsFrozen: boolean;
  side: Side;
  state: OrderState;
  version: number;
  price: string | null;
  size: string | null;
  filled: string;
  quoteFilled: string;
  fee: string;
  held: string;
}

/** What is final is no longer open. Of several changes of an order the last one is what it is now. */
function writeOrders(tx: Tx, changes: readonly OrderChange[]): void {
  const last = [...new Map(changes.map((change) => [change.id, change])).values()];
  const done = last.filter(({ state }) => orderStates[state].final);
  const kept = last.filter(({ state }) => !orderStates[state].final);
  if (done.length > 0) {
    tx.send(sql`
      DELETE FROM open_orders p USING unnest(
        ${done.map((o) => o.tenantId)}::uuid[], ${done.map((o) => o.id)}::uuid[]
      ) AS done (tenant_id, id) WHERE p.tenant_id = done.tenant_id AND p.id = done.id
    `);
  }
  if (kept.length > 0) {
    tx.send(sql`
      UPDATE open_orders p SET state = k.state, version = k.version, size = k.size, filled = k.filled,
        quote_filled = k.quote_filled, fee = k.fee, held = k.held
      FROM unnest(
        ${kept.map((o) => o.tenantId)}::uuid[], ${kept.map((o) => o.id)}::uuid[], ${kept.map((o) => o.state)}::text[],
        ${kept.map((o) => o.version)}::integer[], ${kept.map((o) => o.size)}::bigint[], ${kept.map((o) => o.filled)}::bigint[],
        ${kept.map((o) => o.quoteFilled)}::numeric[], ${kept.map((o) => o.fee)}::numeric[], ${kept.map((o) => o.held)}::numeric[]
      ) AS k (tenant_id, id, state, version, size, filled, quote_filled, fee, held)
      WHERE p.tenant_id = k.tenant_id AND p.id = k.id
    `);
  }
}

function toDelta(
  { market }: MarketLease,
  { sequence, levelChanges, occurredAt }: AppliedBatch,
  previousSequence: number,
): MarketDelta {
  return { market, sequence, previousSequence, changes: levelChanges, occurredAt };
}

// Served by primary keys.
function writePosition(
  tx: Tx,
  { market }: MarketLease,
  tradeSequence: number,
  delta: MarketDelta | undefined,
): void {
  const levelSequence = delta === undefined ? sql`level_sequence` : sql`${delta.sequence}::bigint`;
  tx.send(sql`
    UPDATE markets SET trade_sequence = ${tradeSequence}::bigint, level_sequence = ${levelSequence} WHERE market = ${market}
  `);
  if (delta === undefined) return;
  tx.send(sql`
    INSERT INTO market_deltas (market, sequence, previous_sequence, changes, occurred_at)
    VALUES (${market}, ${delta.sequence}, ${delta.previousSequence}, ${JSON.stringify(delta.changes)}::jsonb, ${delta.occurredAt})
  `);
}

async function moveMoney(tx: Tx, changes: BatchResult["balances"]): Promise<void> {
  if (changes.size === 0) return;
  const accounts = await lockAllAccounts(tx, [...changes.keys()].map(readName));
  const changed = [...accounts].map(([name, { available, held }]): [string, Balance] => {
    const by = changes.get(name) as Balance;
    return [name, { available: available + by.available, held: held + by.held }];
  });
  writeAccounts(tx, new Map(changed));
}

function readName(name: string): AccountKey {
  const [tenantId = "", accountId = "", asset = ""] = name.split(" ");
  return { tenantId, accountId, asset };
}

function toEvent(occurredAt: Date) {
  return (change: OrderChange) => ({
    tenantId: change.tenantId,
    event: "order.updated" as const,
    subjectId: change.id,
    version: change.version,
    state: change.state,
    previousState: change.previousState,
    failureCode: change.failure,
    occurredAt,
    details: writeDetails(change),
  });
}
