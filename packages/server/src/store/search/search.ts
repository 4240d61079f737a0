import { depositKeyOf } from "../../app/deposits/deposit-key.js";
import type {
  FoundRow,
  SearchedKind,
  SearchMatch,
  SearchStore,
  SearchWanted,
} from "../../app/search/search.js";
import type { Queryable } from "../core/database.js";
import { joinStatements, type Statement, sql } from "../core/sql.js";

/**
 * Looks a string up in everything that identifies an object, in one statement of which each part is served by an index and returns at most
 * a page: primary keys, unique keys of idempotency keys, audit_entries_by_request, the addresses, the hashes on the given chains, and the
 * references by their beginning.
 */
export function createSearchStore(database: Queryable, chains: readonly string[]): SearchStore {
  return {
    search: async (wanted) => {
      const parts = [
        ...byId(wanted),
        ...byKey(wanted),
        ...byOther(wanted),
        ...byHash(wanted, chains),
        ...byReference(wanted),
      ];
      if (parts.length === 0) return [];
      const ranked = parts.map((part, rank) => sql`(SELECT ${rank}::integer AS rank, p.* FROM (${part}) p)`);
      return await database.query<FoundRow>(sql`
        SELECT kind, id, match, label FROM (${joinStatements(ranked, " UNION ALL ")}) found
        ORDER BY rank LIMIT ${2 * wanted.limit}
      `);
    },
  };
}

/** Where the objects of a kind are, and what they are called. */
const places = {
  transaction: { table: sql`transactions`, label: sql`reference` },
  wallet: { table: sql`wallets`, label: sql`name` },
  order: { table: sql`orders`, label: sql`reference` },
  client: { table: sql`clients`, label: sql`name` },
  change_request: { table: sql`change_requests`, label: sql`kind` },
  destination: { table: sql`destinations`, label: sql`label` },
  webhook_endpoint: { table: sql`webhook_endpoints`, label: sql`url` },
} as const;

function hit(kind: SearchedKind, match: SearchMatch, id: Statement, label: Statement): Statement {
  return sql`SELECT ${kind}::text AS kind, (${id})::text AS id, ${match}::text AS match, (${label})::text AS label`;
}

function byId({ tenantId, kinds, id }: SearchWanted): Statement[] {
  if (id === undefined || !kinds.has(id.kind)) return [];
  if (id.kind === "webhook_delivery") {
    const from = (table: Statement) => sql`
      ${hit(id.kind, "id", sql`id`, sql`event`)} FROM ${table} WHERE tenant_id = ${tenantId} AND id = ${id.uuid}`;
    return [from(sql`pending_deliveries`), from(sql`finished_deliveries`)];
  }
  const { table, label } = places[id.kind];
  const isShown = id.kind === "webhook_endpoint" ? sql`AND state <> 'deleted'` : sql``;
  return [
    sql`${hit(id.kind, "id", sql`id`, label)} FROM ${table} WHERE tenant_id = ${tenantId} AND id = ${id.uuid} ${isShown}`,
  ];
}

const keyedKinds = ["transaction", "order", "wallet", "client", "change_request", "destination"] as const;

function byKey({ tenantId, kinds, text }: SearchWanted): Statement[] {
  return keyedKinds
    .filter((kind) => kinds.has(kind))
    .map((kind) => {
      const { table, label } = places[kind];
      const keys = kind === "transaction" ? [text, depositKeyOf(text)] : [text];
      return sql`
        ${hit(kind, "idempotency_key", sql`id`, label)} FROM ${table}
        WHERE tenant_id = ${tenantId} AND idempotency_key = ANY(${keys}::text[])`;
    });
}

/** An address is unique among the wallets of all tenants, so the tenant is compared after it was found. */
function byOther({ tenantId, kinds, text, limit }: SearchWanted): Statement[] {
  const addresses = [...new Set([text, text.toLowerCase()])];
  const parts: Statement[] = [];
  if (kinds.has("wallet"))
    parts.push(sql`
      ${hit("wallet", "address", sql`wallet_id`, sql`shown`)} FROM chain_wallets
      WHERE address = ANY(${addresses}::text[]) AND tenant_id = ${tenantId}`);
  if (kinds.has("destination"))
    parts.push(sql`
      ${hit("destination", "address", sql`id`, sql`label`)} FROM destinations
      WHERE tenant_id = ${tenantId} AND address = ANY(${addresses}::text[]) AND removed_at IS NULL LIMIT ${limit}`);
  if (kinds.has("audit_entry"))
    parts.push(sql`
      ${hit("audit_entry", "request_id", sql`number`, sql`action`)} FROM (
        SELECT number, action FROM audit_entries
        WHERE tenant_id = ${tenantId} AND request_id IS NOT NULL
          AND ROW(request_id, number) >= ROW(${text}, 0::bigint) AND ROW(request_id, number) <= ROW(${text}, 9223372036854775807)
        ORDER BY request_id DESC, number DESC LIMIT ${limit}) e`);
  return parts;
}

const hashForm = /^0x[0-9a-f]{64}$/;

/** Every attempt of a payment has a hash of its own, and a transaction of a chain can credit several wallets. Served by the primary keys. */
function byHash({ tenantId, kinds, text, limit }: SearchWanted, chains: readonly string[]): Statement[] {
  const hash = text.toLowerCase();
  if (!kinds.has("transaction") || !hashForm.test(hash) || chains.length === 0) return [];
  return [sql`chain_attempts`, sql`chain_deposits`].map(
    (table) => sql`
      ${hit("transaction", "hash", sql`c.transaction_id`, sql`t.reference`)}
      FROM ${table} c JOIN transactions t ON t.tenant_id = c.tenant_id AND t.id = c.transaction_id
      WHERE c.network = ANY(${[...chains]}::text[]) AND c.hash = ${hash} AND c.tenant_id = ${tenantId} LIMIT ${limit}`,
  );
}

/** A range, in the order of bytes: no character of the text has a meaning of its own, as it would have in a pattern. */
function byReference({ tenantId, kinds, text, limit }: SearchWanted): Statement[] {
  return (["transaction", "order"] as const)
    .filter((kind) => kinds.has(kind))
    .map((kind) => {
      const { table } = places[kind];
      return sql`
        ${hit(kind, "reference", sql`id`, sql`reference`)} FROM (
          SELECT id, reference FROM ${table}
          WHERE tenant_id = ${tenantId} AND reference IS NOT NULL
            AND reference COLLATE "C" >= ${text} AND reference COLLATE "C" < ${`${text}${lastCharacter}`}
          ORDER BY reference COLLATE "C", id LIMIT ${limit}) r`;
    });
}

/** Sorts after every other character in UTF-8. */
const lastCharacter = "\u{10ffff}";
