import { closeLineages, controllersMax, everyone, type Lineage } from "@bursar/domain";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

/** What decides whether a client's approval counts, as it is now. */
export interface ClientStanding {
  lineage: Lineage;
  isActive: boolean;
  scopes: readonly string[];
  authorityChangedAtMs: number;
  resetAtMs: number | null;
  isSingleAdministrator: boolean;
}

interface StandingRow {
  id: string;
  controllers: string[];
  isActive: boolean;
  scopes: string[];
  authorityChangedAt: Date;
  resetAt: Date | null;
  isSingleAdministrator: boolean;
}

/**
 * The standing of clients: for each, the clients that could act as it, found by following who controls whom. One row for each client of
 * their tenants, of which a tenant has at most `limits.clients_per_tenant`; no more of a client's controllers than tell that there are too
 * many. Served by the primary key and clients_by_tenant. A recursive query took 8.5 s for a chain of 998 clients, all wanted.
 */
export async function readStandings(
  source: Queryable,
  clientIds: Iterable<string>,
): Promise<ReadonlyMap<string, ClientStanding>> {
  const wanted = new Set(clientIds);
  const rows = await source.query<StandingRow>(sql`
    SELECT c.id, c.controllers[:${controllersMax + 1}::integer] || array_remove(ARRAY[c.authority_changed_by], NULL) AS controllers,
      c.state = 'active' AS "isActive", c.scopes, c.authority_changed_at AS "authorityChangedAt", c.reset_at AS "resetAt",
      t.single_administrator AS "isSingleAdministrator"
    FROM tenants t JOIN clients c ON c.tenant_id = t.id
    WHERE t.id IN (SELECT tenant_id FROM clients WHERE id = ANY (${[...wanted]}::uuid[]))
  `);
  const controllers = new Map(rows.map((row) => [row.id, new Set(row.controllers)]));
  const lineages = closeLineages(wanted, (id) => [...(controllers.get(id) ?? [])]);
  return new Map(
    rows
      .filter(({ id }) => wanted.has(id))
      .map(({ id, controllers: _, authorityChangedAt, resetAt, ...row }) => [
        id,
        {
          ...row,
          lineage: lineages.get(id) ?? everyone,
          authorityChangedAtMs: authorityChangedAt.getTime(),
          resetAtMs: resetAt?.getTime() ?? null,
        },
      ]),
  );
}

/** Every client that a row names exists: clients are never deleted. */
export function standingOf(standings: ReadonlyMap<string, ClientStanding>, clientId: string): ClientStanding {
  const standing = standings.get(clientId);
  if (standing === undefined) throw new Error(`the client ${clientId} does not exist`);
  return standing;
}
