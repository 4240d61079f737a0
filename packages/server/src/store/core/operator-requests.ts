import type { EarlierResult, OperatorRequest, OperatorResult } from "../../app/requests/operator-request.js";
import type { Queryable } from "./database.js";
import { insertOrFind } from "./insert-or-find.js";
import { sql } from "./sql.js";

/** A lost answer is noticed at once; after this time a secret that was not received is replaced. */
const secretKeptSeconds = 24 * 3600;

/**
 * Records a command of the operator in the SQL transaction that carries it out; returns what a command with the same key did before. Of two
 * at once the second waits for the first to commit. Served by the primary key.
 */
export function recordOperatorRequest(
  tx: Queryable,
  { action, key, hash, reference }: OperatorRequest,
  { tenantId, objectId, sealedSecret }: OperatorResult,
): Promise<EarlierResult | undefined> {
  return insertOrFind(
    async () => {
      const inserted = await tx.query(sql`
        INSERT INTO operator_requests
          (action, idempotency_key, request_hash, tenant_id, object_id, reference, sealed_secret, created_at)
        VALUES
          (${action}, ${key}, decode(${hash}, 'hex'), ${tenantId}, ${objectId}, ${reference ?? null},
           ${sealedSecret === null ? null : Buffer.from(sealedSecret)}, now())
        ON CONFLICT (action, idempotency_key) DO NOTHING
        RETURNING action
      `);
      return inserted.length === 1;
    },
    async () => {
      const [row] = await tx.query<OperatorResult & { requestHash: string }>(sql`
        SELECT tenant_id AS "tenantId", object_id AS "objectId", encode(request_hash, 'hex') AS "requestHash",
          CASE WHEN created_at > now() - ${secretKeptSeconds} * interval '1 second' THEN sealed_secret END AS "sealedSecret"
        FROM operator_requests WHERE action = ${action} AND idempotency_key = ${key}
      `);
      return row && { earlier: row, requestHash: row.requestHash };
    },
  );
}

/** Removes the secrets that no repeated command shows any more. Served by operator_requests_with_secret. */
export async function removeShownSecrets(database: Queryable): Promise<void> {
  await database.query(sql`
    UPDATE operator_requests SET sealed_secret = NULL
    WHERE sealed_secret IS NOT NULL AND created_at <= now() - ${secretKeptSeconds} * interval '1 second'
  `);
}
