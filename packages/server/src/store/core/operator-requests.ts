import type { EarlierResult, OperatorRequest, OperatorResult } from "../../app/requests/operator-request.js";
import { OperatorError } from "../../operator-error.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";
import { type Database, type Queryable, requireKeys, type Tx } from "./database.js";
import { confirmCommits, insertOrFind } from "./rows/insert-or-find.js";
import { sql } from "./sql.js";

/** A lost answer is noticed at once; after this time a secret that was not received is replaced. */
const secretKeptSeconds = 24 * 3600;

/**
 * Records a command of the operator in the SQL transaction that carries it out; returns what a command with the same key did before. Of two
 * at once the second waits for the first to commit. The MAC binds the result to the key: a writer to the database could otherwise answer a
 * key that can be guessed with a tenant whose secret it knows. Served by the primary key.
 */
export function recordOperatorRequest(
  tx: Tx,
  { action, key, hash, reference }: OperatorRequest,
  { tenantId, objectId, sealedSecret }: OperatorResult,
): Promise<EarlierResult | undefined> {
  const keys = requireKeys(tx);
  const { keyId, mac } = macOfRow(keys, "operator request", { action, key, hash, tenantId, objectId });
  return insertOrFind(
    async () => {
      const inserted = await tx.query(sql`
        INSERT INTO operator_requests
          (action, idempotency_key, request_hash, tenant_id, object_id, reference, sealed_secret, created_at, key_id, mac)
        VALUES
          (${action}, ${key}, decode(${hash}, 'hex'), ${tenantId}, ${objectId}, ${reference ?? null},
           ${sealedSecret === null ? null : Buffer.from(sealedSecret)}, now(), ${keyId}, ${mac})
        ON CONFLICT (action, idempotency_key) DO NOTHING
        RETURNING action
      `);
      return inserted.length === 1;
    },
    async () => {
      const [row] = await tx.query<OperatorResult & RowMac & { requestHash: string }>(sql`
        SELECT tenant_id AS "tenantId", object_id AS "objectId", encode(request_hash, 'hex') AS "requestHash",
          key_id AS "keyId", mac,
          CASE WHEN created_at > now() - ${secretKeptSeconds} * interval '1 second' THEN sealed_secret END AS "sealedSecret"
        FROM operator_requests WHERE action = ${action} AND idempotency_key = ${key}
      `);
      if (row === undefined) return undefined;
      await confirmCommits(tx);
      const { requestHash, keyId, mac, ...earlier } = row;
      const content = { action, key, hash: requestHash, tenantId: row.tenantId, objectId: row.objectId };
      if (!isRowAuthentic(keys, "operator request", content, { keyId, mac }))
        throw new OperatorError(
          `The record of an earlier command with the key ${JSON.stringify(key)} was not written by this service, or by a version that did not authenticate it. Nothing was done. Find out what the earlier command did, then use another key.`,
        );
      return { earlier, requestHash };
    },
  );
}

/**
 * Writes the MACs of recorded commands with the current key, unless one was tampered with; returns how many. All of them, because a command
 * can be repeated at any time later; there are as many as the operator has run. Read in the order of the primary key.
 */
export async function resealOperatorRequests(database: Database): Promise<number> {
  let written = 0;
  for (let after: RecordedRequest | undefined = { action: "", key: "" }; after !== undefined; ) {
    const from: RecordedRequest = after;
    const rows = await database.transaction(async (tx) => {
      const keys = requireKeys(tx);
      const listed = await tx.query<
        RecordedRequest & Pick<OperatorResult, "tenantId" | "objectId"> & RowMac & { hash: string }
      >(sql`
        SELECT action, idempotency_key AS key, encode(request_hash, 'hex') AS hash, tenant_id AS "tenantId", object_id AS "objectId",
          key_id AS "keyId", mac
        FROM operator_requests WHERE (action, idempotency_key) > (${from.action}, ${from.key})
        ORDER BY action, idempotency_key LIMIT ${resealMax} FOR UPDATE
      `);
      for (const { keyId, mac, action, key, hash, tenantId, objectId } of listed) {
        const content = { action, key, hash, tenantId, objectId };
        if (keyId === keys.currentId || !isRowAuthentic(keys, "operator request", content, { keyId, mac }))
          continue;
        const again = macOfRow(keys, "operator request", content);
        tx.send(sql`
          UPDATE operator_requests SET key_id = ${again.keyId}, mac = ${again.mac}
          WHERE action = ${action} AND idempotency_key = ${key}
        `);
        written += 1;
      }
      return listed;
    });
    after = rows.at(-1);
  }
  return written;
}

interface RecordedRequest {
  action: string;
  key: string;
}

const resealMax = 200;

/** Removes the secrets that no repeated command shows any more. Served by operator_requests_with_secret. */
export async function removeShownSecrets(database: Queryable): Promise<void> {
  await database.query(sql`
    UPDATE operator_requests SET sealed_secret = NULL
    WHERE sealed_secret IS NOT NULL AND created_at <= now() - ${secretKeptSeconds} * interval '1 second'
  `);
}
