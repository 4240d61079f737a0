import { setImmediate as nextTurn } from "node:timers/promises";
import { closeLineages, controllersMax, everyone, type Lineage, lineageMax } from "@bursar/domain";
import type { ApiClient } from "../../app/clients/client.js";
import { protectingScopes } from "../../app/clients/client-authority.js";
import type { KeyedQueryable, Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
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
  isPerson: boolean;
  authorityChangedAtMs: number;
  resetAtMs: number | null;
  isSingleAdministrator: boolean;
}

/** The clients that are read for one tally: those that are compared, and their lineages. The lineages that do not fit count as `everyone`. */
const groupMax = 200;
/** The clients that one reader reads. */
const readMaxDefault = 400;
/** The rows that are parsed and verified in one turn of the event loop: 0.5 ms each on a busy machine. */
const sliceSize = 16;
/** Who controls a client can change between the statements that find its lineage and read it. */
const triesMax = 3;

/** Reads the standing of clients; a client that it has read before is not read again. */
export interface StandingReader {
  /**
   * The standing of clients that are compared with each other, those that matter most first. The lineages of one call cannot be compared
   * with those of another.
   */
  read: (clientIds: Iterable<string>) => Promise<ReadonlyMap<string, ClientStanding>>;
  /** Reads ahead for several calls of `read`, with a few statements for all. Returns for how many of them, at least one. */
  readAhead: (groups: readonly (readonly string[])[]) => Promise<number>;
}

/** The standing of clients, read once. */
export function readStandings(
  source: KeyedQueryable,
  clientIds: Iterable<string>,
): Promise<ReadonlyMap<string, ClientStanding>> {
  return createStandingReader(source).read(clientIds);
}

/**
 * The standing of clients: for each, the clients that could act as it, found by following who controls whom. Only the rows of these
 * clients are read, with their credentials, and their MACs are verified: a writer to the database could otherwise remove a client from a
 * lineage, or enable an approver. Nothing is known of who controls a client whose MAC is wrong, or whose lineage is too long to be read:
 * it is independent of nobody. What is read for one call of `read` does not depend on other calls, because a tally is not repeated.
 */
export function createStandingReader(source: KeyedQueryable, readMax = readMaxDefault): StandingReader {
  const clients = new Map<string, ApiClient>();
  const tenants = new Map<string, boolean>();
  /** Who controls whom, without proof. */
  const links = new Map<string, readonly string[]>();

  /** One statement nearly always: it ends early only if lineages are long. */
  async function findLinks(wanted: readonly string[]): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const unknown = new Set(
        wanted.flatMap((id) => followLinks(id, links).filter((one) => !links.has(one))),
      );
      if (unknown.size === 0) return;
      for (const { id, controllers } of await readLinks(source, [...unknown])) links.set(id, controllers);
    }
  }

  async function readClients(ids: Iterable<string>): Promise<void> {
    const unread = [...ids].filter((id) => !clients.has(id)).slice(0, Math.max(0, readMax - clients.size));
    for (let from = 0; from < unread.length; from += sliceSize) {
      if (from > 0) await nextTurn();
      for (const client of await readAuthentic(source, unread.slice(from, from + sliceSize)))
        clients.set(client.id, client);
    }
  }

  async function readGroup(wanted: readonly string[]): Promise<ReadonlyMap<string, Lineage>> {
    for (let tries = 1; ; tries += 1) {
      await findLinks(wanted);
      const group = chooseGroup(wanted, links);
      await readClients(group.clientIds);
      let isStale = false;
      const lineages = closeLineages(wanted, (id) => {
        if (group.isTooLong(id)) return undefined;
        const client = group.clientIds.has(id) ? clients.get(id) : undefined;
        if (client === undefined) isStale = true;
        return controllersOf(client);
      });
      if (!isStale || tries === triesMax || clients.size >= readMax) return lineages;
      links.clear();
    }
  }

  return {
    read: async (clientIds) => {
      const wanted = [...new Set(clientIds)];
      const lineages = await readGroup(wanted);
      const found = wanted.flatMap((id) => clients.get(id) ?? []);
      await readTenants(source, tenants, found);
      return new Map(
        found.map((client) => {
          const isSingleAdministrator = tenants.get(client.tenantId) === true;
          return [client.id, { ...standingIn(client, lineages.get(client.id)), isSingleAdministrator }];
        }),
      );
    },
    readAhead: async (groups) => {
      const first = takeWithin(groups, readMax);
      await findLinks([...new Set(first.flat())]);
      const chosen = takeWithin(
        first.map((wanted) => [...chooseGroup(wanted, links).clientIds]),
        readMax,
      );
      await readClients(new Set(chosen.flat()));
      await readTenants(source, tenants, [...clients.values()]);
      return chosen.length;
    },
  };
}

/** The first groups that have at most `max` different ids together, at least one. */
function takeWithin(groups: readonly (readonly string[])[], max: number): (readonly string[])[] {
  const ids = new Set<string>();
  const end = groups.findIndex((group, index) => {
    for (const id of group) ids.add(id);
    return index > 0 && ids.size > max;
  });
  return end === -1 ? [...groups] : groups.slice(0, end);
}

/** Which clients to read, so that the lineages of these are known; of those that come first, if it is too much for all. */
function chooseGroup(wanted: readonly string[], links: Links) {
  const clientIds = new Set(wanted);
  const tooLong = new Set<string>();
  for (const id of wanted) {
    const lineage = followLinks(id, links);
    const added = lineage.filter((one) => !clientIds.has(one));
    if (lineage.length > lineageMax || clientIds.size + added.length > groupMax) tooLong.add(id);
    else for (const one of added) clientIds.add(one);
  }
  return { clientIds, isTooLong: (id: string) => tooLong.has(id) };
}

type Links = ReadonlyMap<string, readonly string[]>;

/** The ids in the lineage of a client, as far as they are known; no more than tell that there are too many. */
function followLinks(clientId: string, links: Links): readonly string[] {
  const found = new Set([clientId]);
  for (const id of found)
    for (const controller of links.get(id) ?? []) {
      if (found.size > lineageMax) return [...found];
      found.add(controller);
    }
  return [...found];
}

/**
 * Who controls these clients, and who controls those, without proof; no more of them, and of a client's controllers, than tell that there
 * are too many. Served by the primary key.
 */
function readLinks(
  source: Queryable,
  clientIds: readonly string[],
): Promise<{ id: string; controllers: string[] }[]> {
  return source.query(sql`
    WITH RECURSIVE followed AS (
      SELECT c.* FROM unnest(${clientIds}::uuid[]) AS wanted (id) CROSS JOIN LATERAL (${linksOf(sql`wanted.id`)}) AS c
      UNION
      SELECT c.* FROM followed
      CROSS JOIN LATERAL unnest(followed.controllers) AS controller (id)
      CROSS JOIN LATERAL (${linksOf(sql`controller.id`)}) AS c)
    SELECT * FROM followed LIMIT ${clientIds.length * (lineageMax + 1)}
  `);
}

const linksOf = (id: Statement) => sql`
  SELECT c.id, c.controllers[:${controllersMax + 1}::integer] || array_remove(ARRAY[c.authority_changed_by, c.role_created_by], NULL) AS controllers
  FROM clients c WHERE c.id = ${id} LIMIT 1`;

/** Clients with proof. Served by the primary key, as are the secrets and keys by their indexes on client_id. */
export async function readAuthentic(source: KeyedQueryable, ids: readonly string[]): Promise<ApiClient[]> {
  const rows = await source.query<ClientRow>(sql`${selectClients} WHERE clients.id = ANY (${ids}::uuid[])`);
  return rows.map((row) => readClient(source, row));
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
  const { controllers, authorityChangedBy, person } = client;
  const others = [authorityChangedBy, person?.roleCreatedBy ?? null].filter((one) => one !== null);
  return [...new Set([...controllers.slice(0, controllersMax + 1), ...others])];
}

function standingIn(
  { state, scopes, person, authorityChangedAt, resetAt }: ApiClient,
  lineage: Lineage = everyone,
): Omit<ClientStanding, "isSingleAdministrator"> {
  return {
    lineage,
    isActive: state === "active",
    scopes,
    isPerson: person !== null,
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
