import { setImmediate as nextTurn } from "node:timers/promises";
import { controllersMax } from "@bursar/domain";
import type { ProvenLink } from "../../../app/access/proven-links.js";
import type { ApiClient } from "../../../app/clients/client.js";
import { heldKeysOf } from "../../../app/clients/former-keys.js";
import { type KeyedQueryable, type Queryable, requireKeys } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import { isClientAuthentic } from "../client-integrity.js";
import { digestOfClientRow, type RowWithoutStop, readUnchecked, selectClientRows } from "../read-client.js";

/** Who controls a client, without proof, and the digest of the row that says so. */
export interface FoundLink {
  id: string;
  controllers: readonly string[];
  digest: string;
}

/** As a row says that the service has written. */
export type FoundProof = ProvenLink | "tampered";

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
 * Proves who controls these clients, and which keys they have, by the MACs of their rows, of those alone that were not proven before: the row
 * has the digests of the keys. Served by the primary key, as are the secrets and keys by their indexes on client_id.
 */
export async function proveLinks(
  source: KeyedQueryable,
  found: readonly Pick<FoundLink, "id" | "digest">[],
): Promise<ReadonlyMap<string, FoundProof>> {
  const keys = requireKeys(source);
  const proven = new Map<string, FoundProof>();
  const unproven = found.flatMap(({ id, digest }) => {
    const known = keys.provenLinks?.get(id, digest);
    if (known !== undefined) proven.set(id, known);
    return known === undefined ? [id] : [];
  });
  for (let from = 0; from < unproven.length; from += sliceSize) {
    if (from > 0) await nextTurn();
    const ids = unproven.slice(from, from + sliceSize);
    const rows = await source.query<RowWithoutStop & { digest: string }>(
      sql`${selectClientRows} WHERE clients.id = ANY (${ids}::uuid[])`,
    );
    for (const { digest, ...row } of rows) {
      const client = readUnchecked(row);
      const isAuthentic = isClientAuthentic(keys, client, row.seal, row.readAt);
      const link = linkOf(client);
      proven.set(client.id, isAuthentic ? link : "tampered");
      if (isAuthentic) keys.provenLinks?.set(client.id, digest, link);
    }
  }
  return proven;
}

/** No more of the controllers than tell that there are too many. */
export function linkOf(client: ApiClient): ProvenLink {
  const { authorityChangedBy, person } = client;
  const actors = client.controllers.slice(0, controllersMax + 1);
  const others = [authorityChangedBy, person?.roleCreatedBy ?? null].filter((one) => one !== null);
  return {
    controllers: [...new Set([...actors, ...others])],
    actors,
    isPerson: person !== null,
    publicKeys: heldKeysOf(client),
  };
}
