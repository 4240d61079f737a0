import { setImmediate as nextTurn } from "node:timers/promises";
import { type Initiator, tallyApprovals } from "@bursar/domain";
import { protectingScopes } from "../../../app/clients/client-authority.js";
import type { KeyedQueryable } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { createStandingReader, findChangeFault, standingOf } from "../lineage/lineage.js";

/** Further clients are not considered: a tenant can have a thousand, and a request that is refused can be repeated. */
const candidatesMax = 100;
/** The clients that are read for one count, those of the candidates' lineages included. */
const readMax = 200;
const sliceSize = 10;

/**
 * The number of approvals that a change which this client requests could get now, of these clients or of all; counted no further than
 * `enough`. It can be too small, and too large only if a key that is in common has an end. Those with the fewest controllers come first,
 * because they are the most independent.
 */
export async function countChangeApprovers(
  source: KeyedQueryable,
  tenantId: string,
  requesterId: string,
  clientIds: readonly string[] | null,
  enough: number,
): Promise<number> {
  const candidates = await listCandidates(source, tenantId, requesterId, clientIds);
  const { read } = createStandingReader(source, { readMax });
  let approved = 0;
  for (let count = sliceSize; ; count += sliceSize) {
    const considered = candidates.slice(0, count);
    const standings = await read([requesterId, ...considered]);
    // As if the change were requested later than any client was changed.
    const requester: Initiator = {
      ...standingOf(standings, requesterId),
      initiatorId: requesterId,
      requestedAtMs: Number.POSITIVE_INFINITY,
      askedAtMs: 0,
    };
    // A client beyond `readMax` has no standing.
    const approvals = considered.flatMap((clientId) => {
      const standing = standings.get(clientId);
      if (standing === undefined) return [];
      return [
        {
          ...standing,
          clientId,
          standingFault: findChangeFault(standing),
          decision: "approve" as const,
          atMs: 0,
        },
      ];
    });
    const anyNumber = { approvals: 0, clientIds, expiresAfterSeconds: 1 };
    approved = Math.max(approved, tallyApprovals(anyNumber, requester, approvals, 0).approved);
    if (approved >= enough || count >= candidates.length) return Math.min(approved, enough);
    await nextTurn();
  }
}

/** Served by clients_by_tenant, or by the primary key. */
async function listCandidates(
  source: KeyedQueryable,
  tenantId: string,
  requesterId: string,
  clientIds: readonly string[] | null,
): Promise<string[]> {
  const rows = await source.query<{ id: string }>(sql`
    SELECT id FROM clients
    WHERE tenant_id = ${tenantId} AND state = 'active' AND id <> ${requesterId} AND scopes && ${[...protectingScopes]}::text[]
      ${clientIds === null ? sql`` : sql`AND id = ANY (${clientIds}::uuid[])`}
    ORDER BY cardinality(controllers), id LIMIT ${candidatesMax}
  `);
  return rows.map(({ id }) => id);
}
