import { setImmediate as nextTurn } from "node:timers/promises";
import { controllersMax } from "@bursar/domain";
import type { ApiClient } from "../../../app/clients/client.js";
import { type KeyedQueryable, type Queryable, requireKeys } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { credentialsOfRow } from "../client-integrity.js";
import { type ClientRow, digestOfClientRow, readRowOnly, selectClientRows } from "../read-client.js";

/** Who controls a client, without proof, and the digest of the row that says so. */
export interface FoundLink {
  id: string;
  controllers: readonly string[];
  digest: string;
}

/** Who controls a client, as a row says that the service has written. */
export type ProvenControllers = readonly string[] | "tampered";

/** The rows that are verified in one turn of the event loop. */
const sliceSize = 32;

/**
 * Who controls these clients, and who controls those, without proof; at most `max` of them, and no more of a client's controllers than tell
 * that there are too many. Served by the primary key.
 */
export function readLinks(
  source: Queryable,
  clientIds: readonly string[],
  max: number,
): Promise<FoundLink[]> {
  return source.query(sql`
    WITH RECURSIVE followed AS (
      SELECT c.* FROM unnest(${clientIds}::uuid[]) AS wanted (id) CROSS JOIN LATERAL (${linksOf(sql`wanted.id`)}) AS c
      UNION
      SELECT c.* FROM followed
      CROSS JOIN LATERAL unnest(followed.controllers) AS controller (id)
      CROSS JOIN LATERAL (${linksOf(sql`controller.id`)}) AS c)
    SELECT f.id, f.controllers, d.digest FROM (SELECT * FROM followed LIMIT ${max}) AS f
    CROSS JOIN LATERAL (SELECT ${digestOfClientRow(sql`c`)} AS digest FROM clients c WHERE c.id = f.id LIMIT 1) AS d
  `);
}

const linksOf = (id: Statement) => sql`
  SELECT c.id, c.controllers[:${controllersMax + 1}::integer] || array_remove(ARRAY[c.authority_changed_by, c.role_created_by], NULL) AS controllers
  FROM clients c WHERE c.id = ${id} LIMIT 1`;

/**
 * Proves who controls these clients by the MACs of their rows, of those alone that were not proven before. Their credentials are not
 * compared with what the row lists: nobody can use a credential that was added, and who controls the client does not depend on them.
 * Served by the primary key.
 */
export async function proveLinks(
  source: KeyedQueryable,
  found: readonly Pick<FoundLink, "id" | "digest">[],
): Promise<ReadonlyMap<string, ProvenControllers>> {
  const keys = requireKeys(source);
  const proven = new Map<string, ProvenControllers>();
  const unproven = found.flatMap(({ id, digest }) => {
    const known = keys.provenLinks?.get(id, digest);
    if (known !== undefined) proven.set(id, known);
    return known === undefined ? [id] : [];
  });
  for (let from = 0; from < unproven.length; from += sliceSize) {
    if (from > 0) await nextTurn();
    const ids = unproven.slice(from, from + sliceSize);
    const rows = await source.query<ClientRow & { digest: string }>(
      sql`${selectClientRows} WHERE clients.id = ANY (${ids}::uuid[])`,
    );
    for (const { digest, ...row } of rows) {
      const client = readRowOnly(row);
      const isAuthentic = credentialsOfRow(keys, client, row.seal) !== undefined;
      const controllers = controllersOf(client);
      proven.set(client.id, isAuthentic ? controllers : "tampered");
      if (isAuthentic) keys.provenLinks?.set(client.id, digest, controllers);
    }
  }
  return proven;
}

/** No more of them than tell that there are too many. */
export function controllersOf({
  controllers,
  authorityChangedBy,
  person,
}: Pick<ApiClient, "controllers" | "authorityChangedBy" | "person">): readonly string[] {
  const others = [authorityChangedBy, person?.roleCreatedBy ?? null].filter((one) => one !== null);
  return [...new Set([...controllers.slice(0, controllersMax + 1), ...others])];
}
