import {
  type AuditBase,
  type AuditDraft,
  type AuditHead,
  type AuditStore,
  describeAct,
  isChainStart,
  nilTenantId,
  optOutActions,
} from "../../app/audit/audit-entry.js";
import {
  type ChainPosition,
  chainHash,
  isPositionAuthentic,
  positionMac,
} from "../../app/audit/chain-hash.js";
import { RefusedError } from "../../app/requests/refused.js";
import { type Database, requireKeys, type Tx } from "../core/database.js";
import { OutcomeUnknownError } from "../core/database-unavailable-error.js";
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
import { factOf, isPlaced, wasWritten } from "./audit-log/audit-writes.js";
import { entriesLost, headChanged } from "./audit-log/disturbances.js";
import { listKeyEnds } from "./audit-log/key-ends.js";
import { type LockedHead, lockHeads } from "./audit-log/lock-heads.js";
import { asStored } from "./audit-log/stored-draft.js";
import { judgeCaller } from "./review-caller.js";

export function createAuditStore(database: Database): AuditStore {
  return {
    append: async (drafts, write) => {
      const attemptsBefore = write?.attempts.length ?? 0;
      const append = async (tx: Tx) => {
        if (write !== undefined && (await wasWritten(tx, write))) return;
        const placed = await placeEntries(tx, drafts);
        write?.attempts.push(placed);
      };
      await database.transaction(append).catch((error: unknown) => {
        // Nothing of this attempt was committed.
        if (!(error instanceof OutcomeUnknownError)) write?.attempts.splice(attemptsBefore);
        throw error;
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
 * Appends entries to the chains of their tenants, in the SQL transaction of the action that they describe; four statements for any number
 * of tenants. The heads stay locked until it ends, so it locks no other rows afterwards, except the counters of the event log.
 */
export async function appendAudit(tx: Tx, drafts: readonly AuditDraft[]): Promise<void> {
  await placeEntries(tx, drafts);
}

/** Returns where the last entry of each tenant is. */
async function placeEntries(tx: Tx, drafts: readonly AuditDraft[]): Promise<ChainPosition[]> {
  if (drafts.length === 0) return [];
  const heads = await lockHeads(tx, [...new Set(drafts.map(tenantOf))]);
  await reviewCallers(tx, drafts);
  const missing = await leaveOutWritten(tx, drafts);
  const byTenant = groupByTenant(missing);
  const additions: Addition[] = [];
  for (const head of heads) {
    const own = byTenant.get(head.tenantId);
    if (own !== undefined) additions.push(await place(tx, head, own));
  }
  if (additions.length === 0) return [];
  const placed = await appendToChains(tx, additions);
  for (const draft of missing)
    draft.attempts?.push(placed.filter(({ tenantId }) => tenantId === tenantOf(draft)));
  return placed;
}

function tenantOf({ tenantId = nilTenantId }: AuditDraft): string {
  return tenantId;
}

function groupByTenant(drafts: readonly AuditDraft[]): Map<string, AuditDraft[]> {
  const byTenant = new Map<string, AuditDraft[]>();
  for (const draft of drafts) {
    const tenantId = tenantOf(draft);
    const own = byTenant.get(tenantId);
    // The hash covers all fields that have a value.
    const entry = { ...asStored(draft), tenantId, caller: undefined, attempts: undefined };
    if (own === undefined) byTenant.set(tenantId, [entry]);
    else own.push(entry);
  }
  return byTenant;
}

/** With the heads locked, the transaction of an act whose COMMIT got no answer has ended: its entry is in its chain, or never will be. */
async function leaveOutWritten(tx: Tx, drafts: readonly AuditDraft[]): Promise<readonly AuditDraft[]> {
  const written = new Set<AuditDraft>();
  for (const draft of drafts) {
    const { attempts = [] } = draft;
    if (attempts.length > 0 && (await isPlaced(tx, attempts))) written.add(draft);
  }
  return written.size === 0 ? drafts : drafts.filter((draft) => !written.has(draft));
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
  const { transaction } = head;
  if (isAuthenticPlace && head.lostTo !== undefined)
    return { transaction, after: head, drafts: [entriesLost(head, head.lostTo, drafts), ...drafts] };
  if (isAuthenticPlace && !head.isPutBack) return { transaction, after: head, drafts };
  const after = isAuthentic ? head : await findLastEntry(tx, head);
  const code = isAuthenticPlace ? "HEAD_PUT_BACK" : isAuthentic ? "ENTRY_NUMBER_TAKEN" : "HEAD_MAC_INVALID";
  const disturbed = headChanged(after, drafts, code);
  // Numbers that this process has committed are not used again, so that the gap shows how many entries are missing.
  const from = head.knownNumber > after.number ? head.knownNumber : after.number;
  const number = await findFreeNumbers(tx, after.tenantId, from, count);
  // An opt-out of before the disturbance no longer counts.
  return { transaction, after: { ...after, number, optOut: null }, drafts: [disturbed, ...drafts] };
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
      const draft = describeAct(origin, "audit.key", `entry ${head.number}`, now);
      return { transaction: head.transaction, after: head, drafts: [draft] };
    });
    await appendToChains(tx, additions);
  }
}

const chainsMax = 100;

interface Addition extends Pick<LockedHead, "transaction"> {
  /** The hash is that of the entry which the first one continues; the number is the one before its own. */
  after: ChainPosition;
  drafts: readonly AuditDraft[];
}

async function appendToChains(tx: Tx, additions: readonly Addition[]): Promise<ChainPosition[]> {
  const keys = requireKeys(tx);
  const keyId = keys.currentId;
  const chains = additions.map(({ transaction, after, drafts }) => {
    let { tenantId, number, hash, optOut = null } = after;
    const entries = drafts.map((draft) => {
      number += 1n;
      const next = chainHash(keys, keyId, hash, number, draft);
      if (next === undefined) throw new Error("the current master key is missing");
      hash = next;
      if (optOutActions.includes(draft.action)) optOut = number.toString();
      return { ...draft, tenantId, number: number.toString(), hash: Buffer.from(hash) };
    });
    return { transaction, tenantId, number, hash, optOut, entries };
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
  for (const chain of chains) tx.witness({ ...factOf(chain), transaction: chain.transaction });
  return chains.map(({ tenantId, number, hash }) => ({ tenantId, number, hash }));
}
