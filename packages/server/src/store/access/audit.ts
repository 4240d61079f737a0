import {
  type AuditBase,
  type AuditDraft,
  type AuditHead,
  type AuditStore,
  type AuditWrite,
  describeAct,
  isChainStart,
  nilTenantId,
  optOutActions,
} from "../../app/audit/audit-entry.js";
import {
  type ChainPosition,
  chainHash,
  chainStart,
  isPositionAuthentic,
  positionMac,
} from "../../app/audit/chain-hash.js";
import { RefusedError } from "../../app/requests/refused.js";
import { type Database, type Queryable, requireKeys, type Tx } from "../core/database.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { sql } from "../core/sql.js";
import { findPage } from "./audit-log/audit-page.js";
import {
  type AuditRow,
  entryColumns,
  findFreeNumbers,
  findLastEntry,
  listEntries,
  listStrays,
  readEntries,
  type Stored,
} from "./audit-log/audit-rows.js";
import { entriesLost, headChanged } from "./audit-log/disturbances.js";
import { listKeyEnds } from "./audit-log/key-ends.js";
import { judgeCaller } from "./review-caller.js";

export function createAuditStore(database: Database): AuditStore {
  return {
    append: async (drafts, write) => {
      await database.transaction(async (tx) => {
        const isFirst = write === undefined || (await beginWrite(tx, write));
        if (isFirst || write?.isRepeated !== true) await appendAudit(tx, drafts);
      });
    },
    list: (tenantId, limit, before) => listEntries(database, tenantId, limit, before),
    find: (page) => findPage(database, page),
    listKeyEnds: (tenantId) => listKeyEnds(database, tenantId),
    listStrays: () => listStrays(database),
    // Served by the primary key.
    listAscending: async (tenantId, limit, after) =>
      readEntries(
        await database.query<AuditRow>(sql`
          SELECT ${entryColumns} FROM audit_entries
          WHERE tenant_id = ${tenantId} AND number > ${after.toString()}
          ORDER BY number LIMIT ${limit}
        `),
      ),
    listHeads: async () => {
      const rows = await database.query<Stored<AuditHead>>(sql`
        SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac, opt_out_entry AS "optOut"
        FROM audit_heads ORDER BY tenant_id
      `);
      return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
    },
    listBases: async () => {
      const rows = await database.query<Stored<AuditBase>>(sql`
        SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac FROM audit_bases ORDER BY tenant_id
      `);
      return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
    },
    // Served by the primary key.
    findRemovedTo: async (tenantId) => {
      const [base] = await database.query<{ number: string }>(sql`
        SELECT number FROM audit_bases WHERE tenant_id = ${tenantId}
      `);
      return base && BigInt(base.number);
    },
  };
}

/**
 * Whether a write was not committed before. A write that may have been committed is repeated with the same number: then this waits for the
 * first one to end. The rows of writes that are not repeated any more are removed. Served by the primary key.
 */
async function beginWrite(tx: Queryable, { writerId, number, settledBelow }: AuditWrite): Promise<boolean> {
  const inserted = await tx.query(sql`
    WITH settled AS (DELETE FROM audit_writes WHERE writer_id = ${writerId} AND number < ${settledBelow})
    INSERT INTO audit_writes (writer_id, number, written_at) VALUES (${writerId}, ${number}, now())
    ON CONFLICT DO NOTHING RETURNING number
  `);
  return inserted.length === 1;
}

/** Of processes that have ended. Served by audit_writes_by_time. */
export async function removeOldAuditWrites(database: Queryable): Promise<void> {
  const isOld = sql`r.written_at < now() - interval '30 days' ORDER BY r.written_at`;
  await removeInBatches(database, sql`audit_writes`, isOld);
}

/**
 * Appends entries to the chains of their tenants, in the SQL transaction of the action that they describe; four statements for any number
 * of tenants. The heads stay locked until it ends, so it locks no other rows afterwards, except the counters of the event log.
 */
export async function appendAudit(tx: Tx, drafts: readonly AuditDraft[]): Promise<void> {
  const byTenant = new Map<string, AuditDraft[]>();
  for (const draft of drafts) {
    const tenantId = draft.tenantId ?? nilTenantId;
    const own = byTenant.get(tenantId);
    // The hash covers all fields that have a value.
    const entry = { ...draft, tenantId, caller: undefined };
    if (own === undefined) byTenant.set(tenantId, [entry]);
    else own.push(entry);
  }
  if (byTenant.size === 0) return;
  const heads = await lockHeads(tx, [...byTenant.keys()]);
  await reviewCallers(tx, drafts);
  const additions: Addition[] = [];
  for (const head of heads) additions.push(await place(tx, head, byTenant.get(head.tenantId) ?? []));
  await appendToChains(tx, additions);
}

async function reviewCallers(tx: Tx, drafts: readonly AuditDraft[]): Promise<void> {
  for (const { tenantId = nilTenantId, caller } of drafts) {
    const refused = caller && (await judgeCaller(tx, tenantId, caller));
    if (refused !== undefined) throw new RefusedError(refused);
  }
}

/**
 * After the head, nearly always. A chain whose head was changed, or whose next numbers are taken, is continued too, because no act that is
 * recorded in it can be carried out otherwise: nobody could freeze a wallet. The numbers that are taken are skipped, and an entry says so.
 */
async function place(tx: Tx, head: LockedHead, drafts: readonly AuditDraft[]): Promise<Addition> {
  const isAuthentic =
    head.number === 0n
      ? isChainStart(head.tenantId, drafts[0]?.action ?? "")
      : isPositionAuthentic(requireKeys(tx), "head", head);
  // One more than is needed, for the entry that records a disturbance.
  const count = drafts.length + 1;
  const isFree = head.next === null || BigInt(head.next) - head.number > BigInt(count);
  const isAuthenticPlace = isAuthentic && isFree;
  if (isAuthenticPlace && head.lostTo !== undefined)
    return { after: head, drafts: [entriesLost(head, head.lostTo, drafts), ...drafts] };
  if (isAuthenticPlace && !head.isPutBack) return { after: head, drafts };
  const after = isAuthentic ? head : await findLastEntry(tx, head);
  const code = isAuthenticPlace ? "HEAD_PUT_BACK" : isAuthentic ? "ENTRY_NUMBER_TAKEN" : "HEAD_MAC_INVALID";
  const disturbed = headChanged(after, drafts, code);
  // Numbers that this process has committed are not used again, so that the gap shows how many entries are missing.
  const from = head.knownNumber > after.number ? head.knownNumber : after.number;
  const number = await findFreeNumbers(tx, after.tenantId, from, count);
  // An opt-out of before the disturbance no longer counts.
  return { after: { ...after, number, optOut: null }, drafts: [disturbed, ...drafts] };
}

/**
 * Starts to key the chains that are not yet: an entry that is keyed covers the hash of the last one that is not. Called once for each
 * database, because later it would accept a chain that somebody else has written.
 */
export async function keyChains(tx: Tx, now: Date): Promise<void> {
  const begun = await tx.query<{ tenantId: string }>(sql`
    SELECT tenant_id AS "tenantId" FROM audit_heads WHERE number > 0 ORDER BY tenant_id
  `);
  for (let from = 0; from < begun.length; from += chainsMax) {
    const heads = await lockHeads(
      tx,
      begun.slice(from, from + chainsMax).map(({ tenantId }) => tenantId),
    );
    const additions = heads.map((head) => {
      const origin = { by: "operator", tenantId: head.tenantId } as const;
      return { after: head, drafts: [describeAct(origin, "audit.key", `entry ${head.number}`, now)] };
    });
    await appendToChains(tx, additions);
  }
}

const chainsMax = 100;

interface LockedHead extends AuditHead {
  /** The lowest number after it that is in the database; null in a chain that nobody has disturbed. */
  next: string | null;
  /** The last entry of the chain that this process has committed in this epoch; 0 if it knows none. */
  knownNumber: bigint;
  /** The head is before that entry, or another one has its number: entries were removed, with a head of then, whose MAC is valid. */
  isPutBack: boolean;
  /** The last entry of an earlier epoch that this process has committed, if the chain does not have it any more. */
  lostTo: bigint | undefined;
}

type HeadRow = Stored<AuditHead> & { next: string | null; knownHash: string | null; removedTo: string };

/**
 * Locks heads in the order of their ids, so that two writers do not deadlock. A statement that has waited for a lock sees the new head and
 * the entries from before, so it takes no entry of another writer for a disturbance. Served by the primary keys.
 */
async function lockHeads(tx: Tx, tenantIds: readonly string[]): Promise<LockedHead[]> {
  const ids = tenantIds.toSorted();
  // Before the heads are read: what this process commits meanwhile can only be later.
  const known = new Map(ids.map((id) => [id, tx.lastEntry(id)]));
  const numbers = ids.map((id) => String(known.get(id)?.at ?? 0));
  // Heads with number 0 are inserted first, so that there are rows to lock.
  await tx.query(sql`
    INSERT INTO audit_heads (tenant_id, number, hash)
    SELECT id, 0, ${Buffer.from(chainStart)}::bytea FROM unnest(${ids}::uuid[]) AS wanted (id) ORDER BY id ON CONFLICT DO NOTHING
  `);
  const heads = await tx.query<HeadRow>(sql`
    SELECT h.tenant_id AS "tenantId", h.number, h.hash, h.key_id AS "keyId", h.mac, h.opt_out_entry AS "optOut", (
        SELECT e.number FROM audit_entries e WHERE e.tenant_id = h.tenant_id AND e.number > h.number
        ORDER BY e.number LIMIT 1) AS next, (
        SELECT encode(e.hash, 'hex') FROM audit_entries e WHERE e.tenant_id = h.tenant_id
          AND e.number = (${numbers}::bigint[])[array_position(${ids}::uuid[], h.tenant_id)]) AS "knownHash",
      coalesce((SELECT b.number FROM audit_bases b WHERE b.tenant_id = h.tenant_id), 0) AS "removedTo"
    FROM audit_heads h WHERE h.tenant_id = ANY (${ids}::uuid[]) ORDER BY h.tenant_id FOR UPDATE OF h
  `);
  if (heads.length !== ids.length) throw new Error("the head of a chain was removed while it was locked");
  return heads.map(({ knownHash, removedTo, ...row }) => {
    const last = known.get(row.tenantId);
    const knownNumber = BigInt(last?.at ?? 0);
    const number = BigInt(row.number);
    // An entry that was exported and removed has no hash.
    const isRemoved = knownHash === null && knownNumber <= BigInt(removedTo);
    const isOther = last !== undefined && !isRemoved && knownHash !== last.mark;
    const isMissing = number < knownNumber || isOther;
    return last?.isOfEarlierEpoch === true
      ? { ...row, number, knownNumber: 0n, isPutBack: false, lostTo: isMissing ? knownNumber : undefined }
      : { ...row, number, knownNumber, isPutBack: isMissing, lostTo: undefined };
  });
}

interface Addition {
  /** The hash is that of the entry which the first one continues; the number is the one before its own. */
  after: ChainPosition;
  drafts: readonly AuditDraft[];
}

async function appendToChains(tx: Tx, additions: readonly Addition[]): Promise<void> {
  const keys = requireKeys(tx);
  const keyId = keys.currentId;
  const chains = additions.map(({ after: { tenantId, number, hash, optOut = null }, drafts }) => {
    const entries = drafts.map((draft) => {
      number += 1n;
      const next = chainHash(keys, keyId, hash, number, draft);
      if (next === undefined) throw new Error("the current master key is missing");
      hash = next;
      if (optOutActions.includes(draft.action)) optOut = number.toString();
      return { ...draft, tenantId, number: number.toString(), hash: Buffer.from(hash) };
    });
    return { tenantId, number, hash, optOut, entries };
  });
  const chained = chains.flatMap(({ entries }) => entries);
  const column = <Key extends keyof (typeof chained)[number]>(key: Key) => chained.map((entry) => entry[key]);
  await tx.query(sql`
    INSERT INTO audit_entries
      (key_id, tenant_id, number, occurred_at, actor, client_id, token_id, action, object, outcome, code, reason, repeated,
       request_id, address, hash, objects, session_id)
    SELECT ${keyId}::text, tenant_id, number, occurred_at, actor, client_id, token_id, action, object, outcome, code, reason,
      repeated, request_id, address, hash, string_to_array(objects, ' '), session_id
    FROM unnest(
      ${column("tenantId")}::uuid[], ${column("number")}::bigint[], ${column("occurredAt")}::timestamptz[],
      ${column("actor")}::text[], ${column("clientId")}::uuid[], ${column("tokenId")}::uuid[], ${column("action")}::text[],
      ${column("object")}::text[], ${column("outcome")}::text[], ${column("code")}::text[],
      ${chained.map(({ reason }) => reason ?? null)}::text[], ${column("repeated")}::integer[],
      ${column("requestId")}::text[], ${column("address")}::text[], ${column("hash")}::bytea[],
      ${chained.map(({ objects }) => objects?.join(" ") ?? null)}::text[],
      ${chained.map(({ sessionId }) => sessionId ?? null)}::uuid[]
    ) AS entry (tenant_id, number, occurred_at, actor, client_id, token_id, action, object, outcome, code, reason, repeated,
      request_id, address, hash, objects, session_id)
  `);
  const macs = chains.map((chain) => positionMac(keys, "head", chain));
  await tx.query(sql`
    UPDATE audit_heads h SET number = moved.number, hash = moved.hash, key_id = ${keyId}, mac = moved.mac,
      opt_out_entry = moved.opt_out
    FROM unnest(
      ${chains.map(({ tenantId }) => tenantId)}::uuid[], ${chains.map(({ number }) => number.toString())}::bigint[],
      ${chains.map(({ hash }) => Buffer.from(hash))}::bytea[], ${macs.map(({ mac }) => Buffer.from(mac))}::bytea[],
      ${chains.map(({ optOut }) => optOut)}::bigint[]
    ) AS moved (tenant_id, number, hash, mac, opt_out)
    WHERE h.tenant_id = moved.tenant_id
  `);
  for (const { tenantId, number, hash } of chains)
    tx.witness({
      kind: "audit entry",
      tenantId,
      at: Number(number),
      mark: Buffer.from(hash).toString("hex"),
    });
}
