import { setImmediate as nextTurn } from "node:timers/promises";
import {
  closeLineages,
  everyone,
  type HeldKey,
  type Lineage,
  lineageMax,
  type StandingFault,
} from "@bursar/domain";
import type { ApiClient } from "../../../app/clients/client.js";
import { protectingScopes } from "../../../app/clients/client-authority.js";
import { heldKeysOf } from "../../../app/clients/former-keys.js";
import type { KeyedQueryable } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { type ClientRow, readClient, selectClients } from "../read-client.js";
import {
  readSingleAdministrator,
  type SingleAdministratorColumns,
  selectSingleAdministrator,
} from "../single-administrator.js";
import { isActedByProgram, keysBehind } from "./follow-links.js";
import { type FoundLink, type FoundProof, linkOf, proveLinks, readLinks } from "./proven-links.js";

/** What decides whether a client's approval counts, as it is now. */
export interface ClientStanding {
  lineage: Lineage;
  /** False also for a client whose row was tampered with. */
  isActive: boolean;
  scopes: readonly string[];
  /** Whether it is a person, as whom no program could act, unless the tenant has a single administrator. */
  isPerson: boolean;
  /** Clients that share one can sign for each other. They are proven by the MAC of the row. */
  publicKeys: readonly HeldKey[];
  /** Those of the other clients in its lineage. */
  lineageKeys: readonly HeldKey[];
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

/** Called with the number of clients that were read, whatever comes of it: what that costs depends on how long lineages are. */
export type OnClientsRead = (count: number) => void;

/** The standing of clients, read once. */
export function readStandings(
  source: KeyedQueryable,
  clientIds: Iterable<string>,
  onRead?: OnClientsRead,
): Promise<ReadonlyMap<string, ClientStanding>> {
  return createStandingReader(source, { onRead }).read(clientIds);
}

/**
 * The standing of clients: for each, the clients that could act as it, found by following who controls whom. Only the rows of these
 * clients are read, those that are compared with their credentials, and their MACs are verified: a writer to the database could otherwise
 * remove a client from a lineage, or enable an approver. Nothing is known of who controls a client whose MAC is wrong, or whose lineage is too long to be read:
 * it is independent of nobody. What is read for one call of `read` does not depend on other calls, because a tally is not repeated.
 */
export function createStandingReader(
  source: KeyedQueryable,
  { readMax = readMaxDefault, onRead }: { readMax?: number; onRead?: OnClientsRead | undefined } = {},
): StandingReader {
  const clients = new Map<string, ApiClient>();
  /** Who controls those that are only part of a lineage. */
  const proven = new Map<string, FoundProof>();
  const tenants = new Map<string, boolean>();
  /** Who controls whom, without proof. */
  const links = new Map<string, FoundLink>();
  const readCount = () => clients.size + proven.size;
  let linkCount = 0;
  let chargedCount = 0;

  /**
   * One statement nearly always. One that ends early has found that a lineage is too long; nothing more is asked about that one, and the
   * others are asked about again.
   */
  async function findLinks(wanted: readonly string[]): Promise<void> {
    let asked = wanted;
    for (let tries = 0; tries <= wanted.length; tries += 1) {
      const lineages = asked.map((id) => ({ id, members: followLinks(id, links) }));
      const open = lineages.filter(
        ({ members }) => members.length <= lineageMax && members.some((one) => !links.has(one)),
      );
      if (open.length === 0) return;
      const unknown = new Set(open.flatMap(({ members }) => members.filter((one) => !links.has(one))));
      const linksMax = open.length * (lineageMax + 1);
      const found = await readLinks(source, [...unknown], linksMax);
      for (const link of found) links.set(link.id, link);
      linkCount += found.length;
      if (found.length < linksMax) return;
      asked = open.map(({ id }) => id);
    }
  }

  async function readClients(compared: Iterable<string>, group: Iterable<string>): Promise<void> {
    const room = () => Math.max(0, readMax - readCount());
    const unread = [...compared].filter((id) => !clients.has(id)).slice(0, room());
    for (const client of await readAuthentic(source, unread)) clients.set(client.id, client);
    const behind = [...group].filter((id) => !clients.has(id) && !proven.has(id)).slice(0, room());
    const found = behind.flatMap((id) => links.get(id) ?? []);
    for (const [id, controllers] of await proveLinks(source, found)) proven.set(id, controllers);
    // The links of lineages that are too long were read too, although their clients are not.
    const count = Math.max(readCount(), linkCount);
    onRead?.(count - chargedCount);
    chargedCount = count;
  }

  /** Undefined if nothing was read of it. */
  function findProof(id: string): FoundProof | undefined {
    const client = clients.get(id);
    if (client === undefined) return proven.get(id);
    return client.isTampered === true ? "tampered" : linkOf(client);
  }

  async function readGroup(wanted: readonly string[]): Promise<ReadonlyMap<string, Lineage>> {
    for (let tries = 1; ; tries += 1) {
      await findLinks(wanted);
      const group = chooseGroup(wanted, links);
      await readClients(wanted, group.clientIds);
      let isStale = false;
      const lineages = closeLineages(wanted, (id) => {
        if (group.isTooLong(id)) return undefined;
        const proof = group.clientIds.has(id) ? findProof(id) : undefined;
        if (proof === undefined) isStale = true;
        return proof === undefined || proof === "tampered" ? undefined : proof.controllers;
      });
      if (!isStale || tries === triesMax || readCount() >= readMax) return lineages;
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
          const isHuman = isSingleAdministrator || !isActedByProgram(client.id, findProof);
          const standing: ClientStanding = {
            ...standingIn(client, lineages.get(client.id)),
            isPerson: client.person !== null && isHuman,
            lineageKeys: keysBehind(client.id, findProof),
            isSingleAdministrator,
          };
          return [client.id, standing];
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
      await readClients(new Set(first.slice(0, chosen.length).flat()), new Set(chosen.flat()));
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

type Links = ReadonlyMap<string, FoundLink>;

/** The ids in the lineage of a client, as far as they are known; no more than tell that there are too many. */
function followLinks(clientId: string, links: Links): readonly string[] {
  const found = new Set([clientId]);
  for (const id of found)
    for (const controller of links.get(id)?.controllers ?? []) {
      if (found.size > lineageMax) return [...found];
      found.add(controller);
    }
  return [...found];
}

/** Clients with proof. Served by the primary key, as are the secrets and keys by their indexes on client_id. */
export async function readAuthentic(source: KeyedQueryable, ids: readonly string[]): Promise<ApiClient[]> {
  const read: ApiClient[] = [];
  for (let from = 0; from < ids.length; from += sliceSize) {
    if (from > 0) await nextTurn();
    const slice = ids.slice(from, from + sliceSize);
    const rows = await source.query<ClientRow>(
      sql`${selectClients} WHERE clients.id = ANY (${slice}::uuid[])`,
    );
    read.push(...rows.map((row) => readClient(source, row)));
  }
  return read;
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

function standingIn(
  client: ApiClient,
  lineage: Lineage = everyone,
): Omit<ClientStanding, "isPerson" | "lineageKeys" | "isSingleAdministrator"> {
  const { state, scopes, authorityChangedAt, resetAt } = client;
  return {
    lineage,
    isActive: state === "active",
    scopes,
    publicKeys: heldKeysOf(client),
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

type Standing = Pick<ClientStanding, "isActive" | "scopes">;

/** Why a client may not approve payments now; null if it may. */
export function findPaymentFault(standing: Standing): StandingFault | null {
  return findStandingFault(standing, ["transactions:approve"]);
}

/** Why a client may not approve change requests now; null if it may. */
export function findChangeFault(standing: Standing): StandingFault | null {
  return findStandingFault(standing, protectingScopes);
}

function findStandingFault({ isActive, scopes }: Standing, anyOf: readonly string[]): StandingFault | null {
  if (!isActive) return "client_disabled";
  return anyOf.some((scope) => scopes.includes(scope)) ? null : "scope_missing";
}
