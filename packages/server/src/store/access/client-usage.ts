import type { TokenBucket } from "@bursar/domain";
import type { UsagePoint, UsageStore } from "../../app/clients/client-usage.js";
import type { Database } from "../core/database.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { sql } from "../core/sql.js";

/** No chart shows more. */
const pointsMax = 400;
/** What a statement reads at most: more than is retained. */
const hoursMax = 2400;

type Row = { [K in keyof UsagePoint]: K extends "start" ? Date : string };

export function createUsageStore(database: Database): UsageStore {
  return {
    // Rows are written in the order of their keys, so that two processes never wait for each other.
    add: async (counted, hour) => {
      const column = (pick: (counts: (typeof counted)[number]["counts"]) => number) =>
        counted.map(({ counts }) => pick(counts));
      // The answer to a lost COMMIT is known as such; that to a statement of its own is not.
      await database.transaction((tx) =>
        tx.query(sql`
        INSERT INTO client_hours AS h (tenant_id, client_id, start, requests, refused, rate_limited, failed, cost)
        SELECT tenant_id, client_id, ${hour}, requests, refused, rate_limited, failed, cost FROM unnest(
          ${counted.map(({ tenantId }) => tenantId)}::uuid[], ${counted.map(({ clientId }) => clientId)}::uuid[],
          ${column(({ requests }) => requests)}::bigint[], ${column(({ refused }) => refused)}::bigint[],
          ${column(({ rateLimited }) => rateLimited)}::bigint[], ${column(({ failed }) => failed)}::bigint[],
          ${column(({ cost }) => cost)}::bigint[]
        ) AS given (tenant_id, client_id, requests, refused, rate_limited, failed, cost)
        ORDER BY tenant_id, client_id
        ON CONFLICT (tenant_id, client_id, start) DO UPDATE SET
          requests = h.requests + excluded.requests, refused = h.refused + excluded.refused,
          rate_limited = h.rate_limited + excluded.rate_limited, failed = h.failed + excluded.failed,
          cost = h.cost + excluded.cost
      `),
      );
    },
    // Served by the primary key.
    list: async ({ tenantId, clientId, period, from, to }) => {
      const rows = await database.query<Row>(sql`
        SELECT date_trunc(${period}, start, 'UTC') AS start, sum(requests)::text AS requests, sum(refused)::text AS refused,
          sum(rate_limited)::text AS "rateLimited", sum(failed)::text AS failed, sum(cost)::text AS cost
        FROM (
          SELECT * FROM client_hours WHERE tenant_id = ${tenantId} AND client_id = ${clientId}
            ${from === undefined ? sql`` : sql`AND start >= ${from}`} ${to === undefined ? sql`` : sql`AND start < ${to}`}
          ORDER BY start DESC LIMIT ${hoursMax}) AS hours
        GROUP BY 1 ORDER BY 1 DESC LIMIT ${pointsMax}
      `);
      return rows
        .map(({ start, requests, refused, rateLimited, failed, cost }) => ({
          start,
          requests: Number(requests),
          refused: Number(refused),
          rateLimited: Number(rateLimited),
          failed: Number(failed),
          cost: Number(cost),
        }))
        .reverse();
    },
    // Served by the primary key.
    readBuckets: async (tenantId, clientId) => {
      const rows = await database.query<TokenBucket & { class: string }>(sql`
        SELECT class, tokens, at_ms AS "atMs" FROM quota_buckets WHERE tenant_id = ${tenantId} AND client_id = ${clientId}
      `);
      return new Map(rows.map(({ class: name, ...bucket }) => [name, bucket]));
    },
  };
}

/** Served by client_hours_by_start. */
export async function removeOldClientHours(database: Database): Promise<void> {
  await removeInBatches(
    database,
    sql`client_hours`,
    sql`r.start < now() - interval '90 days' ORDER BY r.start`,
  );
}
