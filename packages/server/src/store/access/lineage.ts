import type { Lineage } from "@bursar/domain";
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
  lineage: string[];
  isActive: boolean;
  scopes: string[];
  authorityChangedAt: Date;
  resetAt: Date | null;
  isSingleAdministrator: boolean;
}

/**
 * The standing of clients: for each, the clients that could act as it, found by following who controls whom. Served by the primary keys. A
 * lineage has at most as many members as the tenant has clients, and `UNION` visits each once.
 */
export async function readStandings(
  source: Queryable,
  clientIds: Iterable<string>,
): Promise<ReadonlyMap<string, ClientStanding>> {
  const rows = await source.query<StandingRow>(sql`
    WITH RECURSIVE lineage (client_id, ancestor_id) AS (
      SELECT id, id FROM unnest(${[...new Set(clientIds)]}::uuid[]) AS wanted (id)
      UNION
      SELECT l.client_id, controller.id
      FROM lineage l JOIN clients c ON c.id = l.ancestor_id
      CROSS JOIN LATERAL unnest(c.controllers || c.authority_changed_by) AS controller (id)
      WHERE controller.id IS NOT NULL
    ), lineages AS (SELECT client_id, array_agg(ancestor_id) AS ancestors FROM lineage GROUP BY client_id)
    SELECT c.id, l.ancestors AS lineage, c.state = 'active' AS "isActive", c.scopes,
      c.authority_changed_at AS "authorityChangedAt", c.reset_at AS "resetAt",
      t.single_administrator AS "isSingleAdministrator"
    FROM lineages l JOIN clients c ON c.id = l.client_id JOIN tenants t ON t.id = c.tenant_id
  `);
  return new Map(
    rows.map(({ id, lineage, authorityChangedAt, resetAt, ...row }) => [
      id,
      {
        ...row,
        lineage: new Set(lineage),
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
