import { takeTokens } from "@bursar/domain";
import type { QuotaStore, Reservation } from "../../app/quotas/token-reserver.js";
import type { Database } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

interface BucketRow {
  tenantId: string;
  clientId: string;
  quotaClass: string;
  tokens: number;
  atMs: number;
  nowMs: number;
}

/** Locks the buckets, takes tokens by the rules of the domain, and writes the rest. */
export function createQuotaStore(database: Database): QuotaStore {
  return {
    reserve: (requests) =>
      database.transaction(async (tx) => {
        tx.send(addFullBuckets(requests));
        const rows = await tx.query<BucketRow>(lockBuckets(requests));
        const known = new Map(rows.map((row) => [keyOf(row), row]));
        const taken = requests.map((request) => {
          const { nowMs, ...bucket } = known.get(keyOf(request)) as BucketRow;
          return takeTokens(request.quota, bucket, nowMs, request.wanted, request.owed);
        });
        tx.send(
          writeBuckets(
            requests,
            taken.map(({ bucket }) => bucket),
          ),
        );
        return taken.map(({ granted, bucket }) => ({ granted, remaining: bucket.tokens }));
      }),
  };
}

function keyOf({ tenantId, clientId, quotaClass }: Pick<BucketRow, "tenantId" | "clientId" | "quotaClass">) {
  return `${tenantId} ${clientId} ${quotaClass}`;
}

const column = <T, V>(items: readonly T[], pick: (item: T) => V) => items.map(pick);

function keysOf(requests: readonly Reservation[]): Statement {
  return sql`
    ${column(requests, ({ tenantId }) => tenantId)}::uuid[], ${column(requests, ({ clientId }) => clientId)}::uuid[],
    ${column(requests, ({ quotaClass }) => quotaClass)}::text[]`;
}

/** A bucket that was never used is full. Inserted in the order of the keys, so that two statements do not deadlock. */
function addFullBuckets(requests: readonly Reservation[]): Statement {
  return sql`
    INSERT INTO quota_buckets (tenant_id, client_id, class, tokens, at_ms)
    SELECT tenant_id, client_id, class, burst, extract(epoch FROM clock_timestamp()) * 1000
    FROM unnest(${keysOf(requests)}, ${column(requests, ({ quota }) => quota.burst)}::double precision[])
      AS requested (tenant_id, client_id, class, burst)
    ORDER BY tenant_id, client_id, class
    ON CONFLICT DO NOTHING
  `;
}

// Served by the primary key. The clock is read after the lock is held.
function lockBuckets(requests: readonly Reservation[]): Statement {
  return sql`
    SELECT b.tenant_id AS "tenantId", b.client_id AS "clientId", b.class AS "quotaClass", b.tokens, b.at_ms AS "atMs",
      (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS "nowMs"
    FROM unnest(${keysOf(requests)}) AS requested (tenant_id, client_id, class)
    JOIN quota_buckets b USING (tenant_id, client_id, class)
    ORDER BY b.tenant_id, b.client_id, b.class
    FOR UPDATE OF b
  `;
}

// Served by the primary key.
function writeBuckets(
  requests: readonly Reservation[],
  buckets: readonly { tokens: number; atMs: number }[],
): Statement {
  return sql`
    UPDATE quota_buckets b SET tokens = made.tokens, at_ms = made.at_ms
    FROM unnest(${keysOf(requests)}, ${column(buckets, ({ tokens }) => tokens)}::double precision[],
        ${column(buckets, ({ atMs }) => atMs)}::double precision[])
      AS made (tenant_id, client_id, class, tokens, at_ms)
    WHERE b.tenant_id = made.tenant_id AND b.client_id = made.client_id AND b.class = made.class
  `;
}
