import { isListed } from "../../../app/access/integrity-keys.js";
import { describeAct } from "../../../app/audit/audit-entry.js";
import { type KeyEnds, readKeyEnds, type StoredKeyEnd, sealKeyEnd } from "../../../app/audit/key-ends.js";
import { type Database, requireKeys, type Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { appendAudit } from "../audit.js";
import { listKeyEnds } from "./key-ends.js";

/**
 * Ends the listed master keys other than the current one in every chain: an entry and a head with the current key, and a record of the
 * number up to which the others count. Records of keys that were ended before are written again. Returns the number of chains that were
 * changed. Chain by chain, because each is locked.
 */
export async function endOtherKeys(database: Database, now: Date): Promise<number> {
  const { currentId, derive } = requireKeys(database);
  const known = await database.query<{ keyId: string }>(sql`
    SELECT DISTINCT key_id AS "keyId" FROM retained_keys WHERE label = 'audit chain' ORDER BY key_id
  `);
  const others = known
    .map(({ keyId }) => keyId)
    .filter((keyId) => keyId !== currentId && derive("audit chain", keyId) !== undefined);
  const chains = await database.query<{ tenantId: string }>(sql`
    SELECT tenant_id AS "tenantId" FROM audit_heads WHERE number > 0 ORDER BY tenant_id
  `);
  let changed = 0;
  for (const { tenantId } of chains)
    if (await database.transaction((tx) => endKeysOfChain(tx, tenantId, others, now))) changed += 1;
  return changed;
}

async function endKeysOfChain(
  tx: Tx,
  tenantId: string,
  others: readonly string[],
  now: Date,
): Promise<boolean> {
  const keys = requireKeys(tx);
  const { keyId } = await lockHead(tx, tenantId);
  const stored = await listKeyEnds(tx, tenantId);
  const ends = readKeyEnds(keys, stored);
  const current = readKeyEnds(
    keys,
    stored.filter((end) => end.keyId === keys.currentId),
  );
  const carried = others.flatMap((endedKeyId) => {
    const number = ends.get(endedKeyId);
    const isWritten = number === undefined || current.get(endedKeyId) === number;
    return isListed(keys, endedKeyId) || isWritten ? [] : [{ tenantId, endedKeyId, number }];
  });
  const listed = others.filter((other) => isListed(keys, other));
  const isEnded =
    keyId === keys.currentId &&
    listed.every((other) => current.has(other)) &&
    !(await hasEntryAfterEnd(tx, tenantId, listed, current));
  for (const end of carried) insertKeyEnd(tx, sealKeyEnd(keys, end));
  if (isEnded) return carried.length > 0;
  const act = describeAct({ by: "operator", tenantId }, "audit.key", `key ${keys.currentId}`, now);
  await appendAudit(tx, [act]);
  const { number } = await lockHead(tx, tenantId);
  for (const endedKeyId of listed) insertKeyEnd(tx, sealKeyEnd(keys, { tenantId, endedKeyId, number }));
  return true;
}

/** Served by the primary key. */
async function lockHead(tx: Tx, tenantId: string): Promise<{ number: bigint; keyId: string | null }> {
  const [head] = await tx.query<{ number: string; keyId: string | null }>(sql`
    SELECT number, key_id AS "keyId" FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE
  `);
  if (head === undefined) throw new Error("the head of a chain was removed");
  return { number: BigInt(head.number), keyId: head.keyId };
}

/** Whether a process has written with a key after its end. A range of the primary key, which a reseal can afford. */
async function hasEntryAfterEnd(
  tx: Tx,
  tenantId: string,
  keyIds: readonly string[],
  ends: KeyEnds,
): Promise<boolean> {
  if (keyIds.length === 0) return false;
  const numbers = keyIds.map((keyId) => (ends.get(keyId) ?? 0n).toString());
  const found = await tx.query(sql`
    SELECT FROM unnest(${keyIds}::text[], ${numbers}::bigint[]) AS ended (key_id, number)
    JOIN audit_entries e ON e.tenant_id = ${tenantId} AND e.number > ended.number AND e.key_id = ended.key_id
    LIMIT 1
  `);
  return found.length > 0;
}

function insertKeyEnd(tx: Tx, { tenantId, endedKeyId, number, keyId, mac }: StoredKeyEnd): void {
  tx.send(sql`
    INSERT INTO audit_key_ends (tenant_id, ended_key_id, number, key_id, mac)
    VALUES (${tenantId}, ${endedKeyId}, ${number.toString()}, ${keyId}, ${Buffer.from(mac)}) ON CONFLICT DO NOTHING
  `);
}
