import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { Destination, DestinationFilter, DestinationStore } from "../../app/destinations/destination.js";
import type { AllowList } from "../../app/policy/allow-list.js";
import { coalesce } from "../../runtime/concurrency/coalesce.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable } from "../core/database.js";
import { selectBoundedPage, toListed } from "../core/rows/bounded-page.js";
import { findByKey, insertOrFind } from "../core/rows/insert-or-find.js";
import { type Statement, sql } from "../core/sql.js";

const lookUpBatchMax = 256;

export function createDestinationStore(database: Database): DestinationStore & AllowList {
  // Served by destinations_listed. The payouts of a batch share one query.
  const findEffective = coalesce<Pick<Destination, "tenantId" | "network" | "address">, Date>(
    ({ tenantId, network, address }) => `${tenantId} ${network} ${address}`,
    async (wanted) => {
      const rows = await database.query<{ name: string; effectiveAt: Date }>(sql`
        SELECT d.tenant_id || ' ' || d.network || ' ' || d.address AS name, d.effective_at AS "effectiveAt"
        FROM unnest(${wanted.map(({ tenantId }) => tenantId)}::uuid[], ${wanted.map(({ network }) => network)}::text[],
          ${wanted.map(({ address }) => address)}::text[]) AS wanted (tenant_id, network, address)
        JOIN destinations d USING (tenant_id, network, address)
        WHERE d.removed_at IS NULL
      `);
      return new Map(rows.map(({ name, effectiveAt }) => [name, effectiveAt]));
    },
    lookUpBatchMax,
  );
  return {
    addDestination: (destination, request, audit) =>
      database.transaction(async (tx) => {
        const found = await insertOrFind(
          () => insertDestination(tx, destination, request),
          // If no row has this idempotency key, the conflict is on the address. A removed destination is found too: its key stays used.
          async () =>
            (await findByKey<Destination>(tx, table, destination.tenantId, request?.key)) ?? "taken",
        );
        if (found === "taken") return found;
        if (found !== undefined) {
          const { requestHash, ...earlier } = found;
          return { earlier, requestHash };
        }
        await appendAudit(tx, [nameAddress(audit, destination)]);
        return { added: destination };
      }),
    // Served by the primary key.
    readDestination: async (tenantId, id) => {
      const [row] = await database.query<Destination>(sql`
        SELECT ${columns} FROM destinations
        WHERE tenant_id = ${tenantId} AND id = ${id} AND removed_at IS NULL
      `);
      return row;
    },
    // Served by the primary key, read backwards, for a bounded number of rows: removed entries stay in the table. One address by destinations_listed.
    listDestinations: async (tenantId, filter, now, limit, beforeId) => {
      const before = beforeId === undefined ? sql`` : sql`AND id < ${beforeId}`;
      const page = selectBoundedPage({
        lead: (max) => sql`
          SELECT id, network, effective_at, removed_at FROM destinations
          WHERE tenant_id = ${tenantId} ${ofAddress(filter)} ${before}
          ORDER BY id DESC LIMIT ${max}`,
        rest: sql`WHERE s.removed_at IS NULL ${conditions(filter, now)}`,
        limit,
      });
      const rows = await database.query<Destination & { isEnd: boolean }>(sql`
        SELECT page."isEnd", ${columns} FROM (${page}) page
        JOIN destinations d USING (id) WHERE d.tenant_id = ${tenantId} ORDER BY id DESC
      `);
      return toListed(rows, (row) => row);
    },
    removeDestination: (tenantId, id, audit) =>
      database.transaction(async (tx) => {
        const removed = await removeDestination(tx, tenantId, id, audit.occurredAt);
        if (removed !== undefined) await appendAudit(tx, [nameAddress(audit, removed)]);
        return removed !== undefined;
      }),
    isListed: async (tenantId, network, address, now) => {
      const effectiveAt = await findEffective({ tenantId, network, address });
      return effectiveAt !== undefined && effectiveAt <= now;
    },
  };
}

export type NetworkAddress = Pick<Destination, "network" | "address">;

/** The audit log says which address was listed or removed: nothing else shows it after it was removed. */
export function nameAddress(audit: AuditDraft, { network, address }: NetworkAddress): AuditDraft {
  return { ...audit, objects: [audit.object ?? "", `${network}/${address}`] };
}

/** Removes the entry, without its audit entry; undefined if there is no such entry. Served by the primary key. */
export async function removeDestination(
  tx: Queryable,
  tenantId: string,
  id: string,
  removedAt: Date,
): Promise<NetworkAddress | undefined> {
  const [removed] = await tx.query<NetworkAddress>(sql`
    UPDATE destinations SET removed_at = ${removedAt}
    WHERE tenant_id = ${tenantId} AND id = ${id} AND removed_at IS NULL
    RETURNING network, address
  `);
  return removed;
}

/** Without its audit entry. A conflict on the address or on the idempotency key inserts nothing. */
export async function insertDestination(
  tx: Queryable,
  destination: Destination,
  request: { key: string; hash: string } | undefined,
): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO destinations
      (tenant_id, id, label, network, address, note, client_id, idempotency_key, request_hash, created_at, effective_at)
    VALUES
      (${destination.tenantId}, ${destination.id}, ${destination.label}, ${destination.network}, ${destination.address},
       ${destination.note}, ${destination.clientId}, ${request?.key ?? null}, decode(${request?.hash ?? null}, 'hex'),
       ${destination.createdAt}, ${destination.effectiveAt})
    ON CONFLICT DO NOTHING
    RETURNING id
  `);
  return inserted.length === 1;
}

/** At most one row: what is removed is not in the index. */
function ofAddress({ network, address }: DestinationFilter): Statement {
  if (network === undefined || address === undefined) return sql``;
  return sql`AND network = ${network} AND address = ${address} AND removed_at IS NULL`;
}

function conditions({ network, state }: DestinationFilter, now: Date): Statement {
  let where = network === undefined ? sql`` : sql`AND s.network = ${network}`;
  if (state === "active") where = sql`${where} AND s.effective_at <= ${now}`;
  if (state === "waiting") where = sql`${where} AND s.effective_at > ${now}`;
  return where;
}

const columns = sql`
  tenant_id AS "tenantId", id, label, network, address, note, client_id AS "clientId", created_at AS "createdAt",
  effective_at AS "effectiveAt"
`;

const table = { columns, table: sql`destinations` };
