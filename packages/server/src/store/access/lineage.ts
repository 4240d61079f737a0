import { closeLineages, controllersMax, everyone, type Lineage, tallyApprovals } from "@bursar/domain";
import type { ApiClient } from "../../app/clients/client.js";
import { protectingScopes } from "../../app/clients/client-authority.js";
import type { KeyedQueryable } from "../core/database.js";
import { sql } from "../core/sql.js";
import { type ClientRow, readClient, selectClients } from "./read-client.js";
import {
  readSingleAdministrator,
  type SingleAdministratorColumns,
  selectSingleAdministrator,
} from "./single-administrator.js";

/** What decides whether a client's approval counts, as it is now. */
export interface ClientStanding {
  lineage: Lineage;
  /** False also for a client whose row was tampered with. */
  isActive: boolean;
  scopes: readonly string[];
  authorityChangedAtMs: number;
  resetAtMs: number | null;
  isSingleAdministrator: boolean;
}

interface LinkRow extends SingleAdministratorColumns {
  id: string;
  controllers: string[];
}

/**
 * The standing of clients: for each, the clients that could act as it, found by following who controls whom. One row for each client of
 * their tenants, of which a tenant has at most `limits.clients_per_tenant`; no more of a client's controllers than tell that there are too
 * many. Served by the primary key and clients_by_tenant. A recursive query took 8.5 s for a chain of 998 clients, all wanted.
 *
 * The rows of those that were found are then read with their credentials, and their MACs verified: a writer to the database could
 * otherwise remove a client from a lineage, or enable an approver. Nothing is known of who controls a client whose MAC is wrong.
 */
export async function readStandings(
  source: KeyedQueryable,
  clientIds: Iterable<string>,
): Promise<ReadonlyMap<string, ClientStanding>> {
  const wanted = new Set(clientIds);
  const links = await source.query<LinkRow>(sql`
    SELECT c.id, c.controllers[:${controllersMax + 1}::integer] || array_remove(ARRAY[c.authority_changed_by], NULL) AS controllers,
      ${selectSingleAdministrator}
    FROM tenants t JOIN clients c ON c.tenant_id = t.id
    WHERE t.id IN (SELECT tenant_id FROM clients WHERE id = ANY (${[...wanted]}::uuid[]))
  `);
  const linked = new Map(links.map((row) => [row.id, row]));
  const reached = closeLineages(wanted, (id) => linked.get(id)?.controllers);
  const clients = await readAuthentic(source, reached.keys());
  const lineages = closeLineages(wanted, (id) => controllersOf(clients.get(id)));
  return new Map(
    [...wanted].flatMap((id) => {
      const client = clients.get(id);
      if (client === undefined) return [];
      const link = linked.get(id);
      const isSingleAdministrator = link !== undefined && readSingleAdministrator(source, link);
      return [[id, { ...standingIn(client, lineages.get(id)), isSingleAdministrator }]];
    }),
  );
}

/** Served by the primary key, as are the secrets and keys by their indexes on client_id. */
async function readAuthentic(
  source: KeyedQueryable,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, ApiClient>> {
  const rows = await source.query<ClientRow>(sql`
    ${selectClients} WHERE clients.id = ANY (${[...ids]}::uuid[])
  `);
  return new Map(rows.map((row) => [row.id, readClient(source, row)]));
}

function controllersOf(client: ApiClient | undefined): readonly string[] | undefined {
  if (client === undefined || client.isTampered === true) return undefined;
  const { controllers, authorityChangedBy } = client;
  const first = controllers.slice(0, controllersMax + 1);
  return [...new Set(authorityChangedBy === null ? first : [...first, authorityChangedBy])];
}

function standingIn(
  { state, scopes, authorityChangedAt, resetAt }: ApiClient,
  lineage: Lineage = everyone,
): Omit<ClientStanding, "isSingleAdministrator"> {
  return {
    lineage,
    isActive: state === "active",
    scopes,
    authorityChangedAtMs: authorityChangedAt.getTime(),
    resetAtMs: resetAt?.getTime() ?? null,
  };
}

/** Every client that a row names exists: clients are never deleted. */
export function standingOf(standings: ReadonlyMap<string, ClientStanding>, clientId: string): ClientStanding {
  const standing = standings.get(clientId);
  if (standing === undefined) throw new Error(`the client ${clientId} does not exist`);
  return standing;
}

/** Whether a client may approve change requests now, if it is independent of the requester. */
export function mayApproveChanges({
  isActive,
  scopes,
}: Pick<ClientStanding, "isActive" | "scopes">): boolean {
  return isActive && protectingScopes.some((scope) => scopes.includes(scope));
}

/**
 * The largest number of approvals that a change which this client requests could get now, of these clients or of all. Served by
 * clients_by_tenant.
 */
export async function countChangeApprovers(
  source: KeyedQueryable,
  tenantId: string,
  requesterId: string,
  clientIds: readonly string[] | null,
): Promise<number> {
  const candidates = await source.query<{ id: string }>(sql`
    SELECT id FROM clients WHERE tenant_id = ${tenantId} AND scopes && ${[...protectingScopes]}::text[]
    ORDER BY cardinality(controllers), id
  `);
  const ids = candidates.map(({ id }) => id).filter((id) => clientIds === null || clientIds.includes(id));
  const standings = await readStandings(source, [requesterId, ...ids]);
  // As if the change were requested later than any client was changed.
  const requester = {
    ...standingOf(standings, requesterId),
    initiatorId: requesterId,
    requestedAtMs: Number.POSITIVE_INFINITY,
    askedAtMs: 0,
  };
  const approvals = ids.map((clientId) => {
    const standing = standingOf(standings, clientId);
    const isEnabled = mayApproveChanges(standing);
    return { ...standing, clientId, isEnabled, decision: "approve" as const, atMs: 0 };
  });
  const anyNumber = { approvals: 0, clientIds, expiresAfterSeconds: 1 };
  return tallyApprovals(anyNumber, requester, approvals, 0).approved;
}
