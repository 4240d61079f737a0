import { setImmediate as nextTurn } from "node:timers/promises";
import { closeLineages, controllersMax, everyone, type Lineage } from "@bursar/domain";
import type { ApiClient } from "../../app/clients/client.js";
import { protectingScopes } from "../../app/clients/client-authority.js";
import type { KeyedQueryable, Queryable } from "../core/database.js";
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

/** Lineages are rarely deeper; the clients of a longer chain are found with one statement instead of one for each level. */
const levelsMax = 5;
/** The rows that are parsed and verified in one turn of the event loop: 0.5 ms each on a busy machine. */
const sliceSize = 16;

/** Reads the standing of clients; a client that it has read before is not read again. */
export type StandingReader = (clientIds: Iterable<string>) => Promise<ReadonlyMap<string, ClientStanding>>;

/** The standing of clients, read once. */
export function readStandings(
  source: KeyedQueryable,
  clientIds: Iterable<string>,
): Promise<ReadonlyMap<string, ClientStanding>> {
  return createStandingReader(source)(clientIds);
}

/**
 * The standing of clients: for each, the clients that could act as it, found by following who controls whom, from level to level. Only the
 * rows of these clients are read, with their credentials, and their MACs are verified: a writer to the database could otherwise remove a
 * client from a lineage, or enable an approver. Nothing is known of who controls a client whose MAC is wrong, or that is beyond `readMax`:
 * it is independent of nobody.
 */
export function createStandingReader(
  source: KeyedQueryable,
  readMax = Number.POSITIVE_INFINITY,
): StandingReader {
  const clients = new Map<string, ApiClient>();
  const tenants = new Map<string, boolean>();
  const controllers = (id: string) => controllersOf(clients.get(id));
  const isUnread = (id: string) => !clients.has(id);

  async function readClients(ids: readonly string[]): Promise<void> {
    const unread = ids.filter(isUnread).slice(0, Math.max(0, readMax - clients.size));
    for (let from = 0; from < unread.length; from += sliceSize) {
      if (from > 0) await nextTurn();
      for (const client of await readAuthentic(source, unread.slice(from, from + sliceSize)))
        clients.set(client.id, client);
    }
  }

  async function readLineages(wanted: readonly string[]): Promise<void> {
    let level = wanted;
    for (let depth = 0; depth < levelsMax; depth += 1) {
      await readClients(level);
      level = [...new Set(level.flatMap((id) => controllers(id) ?? []))].filter(isUnread);
      if (level.length === 0 || clients.size >= readMax) return;
    }
    const links = await readLinks(source, level);
    await readClients([...closeLineages(level, (id) => links.get(id)).keys()]);
  }

  return async (clientIds) => {
    const wanted = [...new Set(clientIds)];
    await readLineages(wanted);
    const lineages = closeLineages(wanted, controllers);
    const found = wanted.flatMap((id) => clients.get(id) ?? []);
    await readTenants(source, tenants, found);
    return new Map(
      found.map((client) => {
        const isSingleAdministrator = tenants.get(client.tenantId) === true;
        return [client.id, { ...standingIn(client, lineages.get(client.id)), isSingleAdministrator }];
      }),
    );
  };
}

/** Served by the primary key, as are the secrets and keys by their indexes on client_id. */
async function readAuthentic(source: KeyedQueryable, ids: readonly string[]): Promise<ApiClient[]> {
  const rows = await source.query<ClientRow>(sql`${selectClients} WHERE clients.id = ANY (${ids}::uuid[])`);
  return rows.map((row) => readClient(source, row));
}

/**
 * Who controls whom, of all clients of the tenants of these clients, without proof. A tenant has at most `limits.clients_per_tenant`; no
 * more of a client's controllers are read than tell that there are too many. Served by the primary key and clients_by_tenant. A recursive
 * query took 8.5 s for a chain of 998 clients, all wanted.
 */
async function readLinks(
  source: Queryable,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const links = await source.query<{ id: string; controllers: string[] }>(sql`
    SELECT c.id, c.controllers[:${controllersMax + 1}::integer] || array_remove(ARRAY[c.authority_changed_by], NULL) AS controllers
    FROM clients c WHERE c.tenant_id IN (SELECT tenant_id FROM clients WHERE id = ANY (${clientIds}::uuid[]))
  `);
  return new Map(links.map(({ id, controllers }) => [id, controllers]));
}

/** Which tenants have one administrator. Served by the primary key. */
async function readTenants(
  source: KeyedQueryable,
  known: Map<string, boolean>,
  clients: readonly ApiClient[],
): Promise<void> {
  const ids = new Set(clients.map(({ tenantId }) => tenantId).filter((id) => !known.has(id)));
  if (ids.size === 0) return;
  const rows = await source.query<SingleAdministratorColumns>(sql`
    SELECT ${selectSingleAdministrator} FROM tenants t WHERE t.id = ANY (${[...ids]}::uuid[])
  `);
  for (const row of rows) known.set(row.tenantId, readSingleAdministrator(source, row));
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
