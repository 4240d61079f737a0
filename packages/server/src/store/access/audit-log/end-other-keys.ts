import { isListed } from "../../../app/access/integrity-keys.js";
import { describeAct } from "../../../app/audit/audit-entry.js";
import {
  type KeyEnd,
  type KeyEnds,
  readKeyEnds,
  type StoredKeyEnd,
  sealKeyEnd,
} from "../../../app/audit/key-ends.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { appendAudit } from "../audit.js";
import { listKeyEnds } from "./key-ends.js";
import { findLinkedEntries } from "./linked-entries.js";

export interface EndOptions {
  /** Ends the keys also in broken chains. Entries before the break, of keys that were replaced earlier, do not count any more. */
  acceptsBroken: boolean;
}

export interface EndedKeys {
  /** How many chains were changed. */
  chains: number;
  /** Keys that are retained although no entry of any chain counts for them: something else may have inserted them. */
  unusedKeys: string[];
  /** Chains with an entry that later ones do not continue. Nothing was changed in them, unless that is accepted. */
  brokenChains: { tenantId: string; number: bigint }[];
}

/**
 * Ends the listed master keys other than the current one in every chain: an entry and a head with the current key, and a record of the
 * number up to which the others count. Records of keys that were ended before are written again, unless the entries that they are about were
 * removed or inserted. Chain by chain, because each is locked.
 */
export async function endOtherKeys(
  database: Database,
  now: Date,
  { acceptsBroken }: EndOptions = { acceptsBroken: false },
): Promise<EndedKeys> {
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
  const brokenChains: EndedKeys["brokenChains"] = [];
  for (const { tenantId } of chains) {
    const { carried, brokenAt } = await findCarried(database, tenantId, others);
    if (brokenAt !== undefined) brokenChains.push({ tenantId, number: brokenAt });
    // What a key has authenticated is not carried on once that key has ended, so it must not end before the chain is repaired.
    if (brokenAt !== undefined && !acceptsBroken) continue;
    if (await database.transaction((tx) => endKeysOfChain(tx, tenantId, others, carried, now))) changed += 1;
  }
  const used = await listCarriedKeys(database);
  const unusedKeys = others.filter((keyId) => !isListed(requireKeys(database), keyId) && !used.has(keyId));
  return { chains: changed, unusedKeys, brokenChains };
}

/** The keys with a record of the current key in any chain. A few rows for each chain. */
async function listCarriedKeys(database: Database): Promise<ReadonlySet<string>> {
  const keys = requireKeys(database);
  const stored = await database.query<Omit<StoredKeyEnd, "number"> & { number: string }>(sql`
    SELECT tenant_id AS "tenantId", ended_key_id AS "endedKeyId", number, key_id AS "keyId", mac
    FROM audit_key_ends WHERE key_id = ${keys.currentId}
  `);
  return new Set(
    readKeyEnds(
      keys,
      stored.map((end) => ({ ...end, number: BigInt(end.number) })),
    ).keys(),
  );
}

async function endKeysOfChain(
  tx: Tx,
  tenantId: string,
  others: readonly string[],
  carried: readonly KeyEnd[],
  now: Date,
): Promise<boolean> {
  const keys = requireKeys(tx);
  const head = await lockHead(tx, tenantId);
  const { current } = await readEnds(tx, tenantId);
  const listed = others.filter((other) => isListed(keys, other));
  const isEnded =
    head.keyId === keys.currentId &&
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

/** The ends that the current key has authenticated, and those that only another one has, which has not ended itself. */
async function readEnds(
  source: KeyedQueryable,
  tenantId: string,
): Promise<{ current: KeyEnds; earlier: KeyEnds }> {
  const keys = requireKeys(source);
  const stored = await listKeyEnds(source, tenantId);
  const current = readKeyEnds(
    keys,
    stored.filter((end) => end.keyId === keys.currentId),
  );
  const earlier = stored.filter((end) => end.keyId !== keys.currentId && !current.has(end.keyId));
  return { current, earlier: readKeyEnds(keys, earlier) };
}

/**
 * The ends of keys that were replaced earlier, which a key that is replaced now has authenticated. Its thief can have forged such a record, for a
 * key of his own too. So it counts only until the key that has authenticated it has ended itself, and only up to an entry that its key has
 * written already, and that all later entries of the chain continue. Before the chain is locked, because it can be long; nobody can change an
 * entry that was read.
 */
async function findCarried(
  database: KeyedQueryable,
  tenantId: string,
  others: readonly string[],
): Promise<{ carried: KeyEnd[]; brokenAt: bigint | undefined }> {
  const keys = requireKeys(database);
  const { current, earlier } = await readEnds(database, tenantId);
  const wanted = new Map(
    others.flatMap((keyId): [string, bigint][] => {
      const upTo = earlier.get(keyId);
      return upTo === undefined || current.has(keyId) || isListed(keys, keyId) ? [] : [[keyId, upTo]];
    }),
  );
  if (wanted.size === 0) return { carried: [], brokenAt: undefined };
  const { last, brokenAt } = await findLinkedEntries(database, keys, tenantId, wanted);
  return { carried: [...last].map(([endedKeyId, number]) => ({ tenantId, endedKeyId, number })), brokenAt };
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
