import type {
  BalancePoint,
  OverviewStore,
  PeriodSum,
  StateSum,
  TimeRange,
  WalletEntry,
} from "../../app/overview/overview.js";
import type { Database } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/** PostgreSQL's bigint and numeric arrive as strings. */
type Row<T> = { [K in keyof T]: T[K] extends bigint | number ? string : T[K] };

/** Statements and sums as the reader of the log has written them. Each is served by a primary key. */
export function createOverviewStore(database: Database): OverviewStore {
  return {
    listEntries: async ({ tenantId, walletId, asset, limit, before }) => {
      const isBefore =
        before === undefined ? sql`` : sql`AND ROW(sequence, line) < ROW(${before.sequence}, ${before.line})`;
      const rows = await database.query<Row<WalletEntry>>(sql`
        SELECT sequence, line::text, amount, balance, cause, cause_id AS "causeId", occurred_at AS "occurredAt",
          CASE cause WHEN 'transaction'
            THEN (SELECT t.reference FROM transactions t WHERE t.tenant_id = w.tenant_id AND t.id = w.cause_id)
            ELSE (SELECT o.reference FROM orders o WHERE o.tenant_id = w.tenant_id AND o.id = w.cause_id) END AS reference
        FROM wallet_entries w WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId} AND asset = ${asset} ${isBefore}
        ORDER BY sequence DESC, line DESC LIMIT ${limit}
      `);
      return rows.map((row) => ({
        ...row,
        sequence: Number(row.sequence),
        line: Number(row.line),
        amount: BigInt(row.amount),
        balance: BigInt(row.balance),
      }));
    },
    listPoints: async ({ tenantId, walletId, asset, period, limit, ...range }) => {
      const rows = await database.query<Row<BalancePoint>>(sql`
        SELECT start, received, sent, balance FROM wallet_periods
        WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId} AND asset = ${asset} AND period = ${period} ${within(range)}
        ORDER BY start DESC LIMIT ${limit}
      `);
      return rows
        .map(({ start, received, sent, balance }) => {
          return { start, received: BigInt(received), sent: BigInt(sent), balance: BigInt(balance) };
        })
        .reverse();
    },
    listOpen: async (tenantId) => {
      const rows = await database.query<Row<StateSum>>(sql`
        SELECT state, asset, (entered - left_count)::text AS count, (entered_amount - left_amount)::text AS amount
        FROM transaction_periods
        WHERE tenant_id = ${tenantId} AND period = 'all' AND start = '-infinity' AND entered > left_count
          AND state IN ('awaiting_approval', 'processing', 'broadcast', 'confirming')
        ORDER BY state, asset LIMIT ${openMax}
      `);
      return rows.map(readSum);
    },
    listPeriods: async ({ tenantId, period, asset, limit, ...range }) => {
      const rows = await database.query<Row<PeriodSum>>(sql`
        SELECT start, state, asset, entered::text AS count, entered_amount::text AS amount FROM transaction_periods
        WHERE tenant_id = ${tenantId} AND period = ${period} ${within(range)} AND entered > 0
          ${asset === undefined ? sql`` : sql`AND asset = ${asset}`}
        ORDER BY start DESC, state DESC, asset DESC LIMIT ${limit}
      `);
      return rows.map((row) => ({ ...readSum(row), start: row.start })).reverse();
    },
    readLag: async (tenantId, now) => {
      const [row] = await database.query<{ events: string; oldestAt: Date | null }>(sql`
        SELECT greatest(s.sequence - p.sequence, 0)::text AS events, (
            SELECT e.occurred_at FROM events e WHERE e.tenant_id = ${tenantId} AND e.sequence > p.sequence
            ORDER BY e.sequence LIMIT 1) AS "oldestAt"
        FROM event_sequences s CROSS JOIN LATERAL (
          SELECT coalesce((SELECT sequence FROM log_positions WHERE tenant_id = ${tenantId}), 0) AS sequence) p
        WHERE s.tenant_id = ${tenantId}
      `);
      const ageMs = row?.oldestAt == null ? 0 : Math.max(now.getTime() - row.oldestAt.getTime(), 0);
      return { events: Number(row?.events ?? 0), seconds: Math.round(ageMs) / 1000 };
    },
  };
}

/** Far more than there are states and assets. */
const openMax = 1000;

function within({ from, to }: TimeRange): Statement {
  const isAfter = from === undefined ? sql`` : sql`AND start >= ${from}`;
  return to === undefined ? isAfter : sql`${isAfter} AND start < ${to}`;
}

function readSum({ state, asset, count, amount }: Row<StateSum>): StateSum {
  return { state, asset, count: Number(count), amount: BigInt(amount) };
}
